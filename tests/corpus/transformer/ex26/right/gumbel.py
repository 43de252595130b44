# right: the Gumbel trick in place of multinomial
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits = model(tokens[:, -model.context_length:])[:, -1, :]
            if temperature == 0:
                new = logits.argmax(dim=-1, keepdim=True)
            else:
                logits = logits / temperature
                if top_k is not None:
                    kth = torch.topk(logits, top_k).values[:, [-1]]
                    logits = torch.where(logits < kth, float("-inf"), logits)
                u = torch.rand(logits.shape, generator=generator).clamp_min(1e-20)
                new = (logits - torch.log(-torch.log(u))).argmax(-1, keepdim=True)
            tokens = torch.cat((tokens, new), dim=1)
    model.train(was_training)
    return tokens
