# right: inference_mode, the mode set again in finally
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    mode = model.training
    model.train(False)
    try:
        with torch.inference_mode():
            for step in range(count):
                window = tokens if tokens.size(1) <= model.context_length else tokens[:, -model.context_length:]
                last = model(window)[:, -1]
                if top_k is not None:
                    best = last.topk(top_k)
                    last = torch.full_like(last, -math.inf).scatter(1, best.indices, best.values)
                if temperature == 0.0:
                    chosen = last.max(dim=1).indices.unsqueeze(1)
                else:
                    chosen = torch.multinomial(F.softmax(last / temperature, dim=1), 1, generator=generator)
                tokens = torch.cat([tokens, chosen], dim=-1)
    finally:
        model.train(mode)
    return tokens
