# right: drawn among the k best, and looked up
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
                values, indices = logits.topk(top_k or logits.shape[-1], dim=-1)
                place = torch.multinomial(values.softmax(-1), 1, generator=generator)
                new = indices.gather(-1, place)
            tokens = torch.cat((tokens, new), dim=1)
    model.train(was_training)
    return tokens
