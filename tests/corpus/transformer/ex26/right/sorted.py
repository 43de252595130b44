# right: logits are sorted, and the best are drawn among
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    mode = model.training
    model.eval()
    def draw(logits):
        if temperature == 0:
            return logits.topk(1).indices
        if top_k is None:
            return torch.multinomial((logits / temperature).softmax(1), 1, generator=generator)
        best, which = logits.sort(dim=1, descending=True)
        probs = F.pad((best[:, :top_k] / temperature).softmax(1), (0, best.shape[1] - top_k))
        return which.gather(1, torch.multinomial(probs, 1, generator=generator))
    with torch.inference_mode():
        for _ in range(count):
            tokens = torch.hstack([tokens, draw(model(tokens[:, -model.context_length:])[:, -1])])
    model.train(mode)
    return tokens.clone()
