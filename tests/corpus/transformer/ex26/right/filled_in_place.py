# right: a tensor of its own, filled token by token
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    training = model.training
    model.eval()
    B, T = tokens.shape
    texts = torch.zeros(B, T + count, dtype=tokens.dtype, device=tokens.device)
    texts[:, :T] = tokens
    with torch.no_grad():
        for t in range(T, T + count):
            p = model(texts[:, max(0, t - model.context_length):t])[:, -1]
            if temperature == 0:
                texts[:, t] = p.argmax(-1)
                continue
            p = torch.softmax(p / temperature, -1)
            if top_k:
                p[p < p.topk(top_k)[0][:, -1:]] = 0
                p = p / p.sum(-1, keepdim=True)
            texts[:, t] = torch.multinomial(p, 1, generator=generator)[:, 0]
    if training:
        model.train()
    return texts
