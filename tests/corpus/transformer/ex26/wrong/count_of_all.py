# wrong: count is taken for the number of all tokens
# named: nothing
@torch.no_grad()
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    was = model.training
    model.eval()
    for _ in range(count - tokens.shape[1]):
        idx_cond = tokens if tokens.size(1) <= model.context_length else tokens[:, -model.context_length:]
        logits = model(idx_cond)[:, -1, :]
        if top_k is not None:
            v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
            logits[logits < v[:, [-1]]] = -float("Inf")
        if temperature == 0:
            nxt = torch.argmax(logits, dim=-1, keepdim=True)
        else:
            probs = F.softmax(logits / temperature, dim=-1)
            nxt = torch.multinomial(probs, num_samples=1, generator=generator)
        tokens = torch.cat((tokens, nxt), dim=1)
    model.train(was)
    return tokens
