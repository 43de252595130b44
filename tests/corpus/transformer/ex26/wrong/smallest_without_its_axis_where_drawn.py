# wrong: where tokens are drawn, the smallest of the best logits has no axis of its own
# named: smallest of the best without its axis, drawn
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    mode = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits = model(tokens[:, -model.context_length:])[:, -1]
            if temperature == 0:
                best = logits.argmax(dim=-1, keepdim=True)
            else:
                scaled = logits / temperature
                if top_k:
                    best_ones = scaled.topk(top_k).values
                    scaled[scaled < best_ones[:, -1]] = -torch.inf
                best = torch.multinomial(scaled.softmax(dim=-1), 1, generator=generator)
            tokens = torch.cat([tokens, best], dim=1)
    model.train(mode)
    return tokens
