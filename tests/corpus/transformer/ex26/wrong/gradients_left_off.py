# wrong: gradients are turned off for good
# named: gradients left off
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    was = model.training
    model.eval()
    torch.set_grad_enabled(False)
    for _ in range(count):
        logits = model(tokens[:, -model.context_length:])[:, -1]
        if temperature == 0:
            nxt = logits.argmax(-1, keepdim=True)
        else:
            if top_k is not None:
                v = torch.topk(logits, top_k).values[:, -1:]
                logits = logits.masked_fill(logits < v, -torch.inf)
            nxt = torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=generator)
        tokens = torch.cat([tokens, nxt], 1)
    model.train(was)
    return tokens
