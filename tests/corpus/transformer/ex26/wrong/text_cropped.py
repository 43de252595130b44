# wrong: the text itself is cropped, and not what the model gets
# named: the text itself cropped
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    was_training = model.training
    model.eval()
    for _ in range(count):
        if tokens.shape[1] > model.context_length:
            tokens = tokens[:, -model.context_length :]
        with torch.no_grad():
            scores = model(tokens)[:, -1]
        if temperature == 0:
            chosen = scores.argmax(-1, keepdim=True)
        else:
            scores = scores / temperature
            if top_k is not None:
                scores[scores < scores.topk(top_k).values[:, [-1]]] = -math.inf
            chosen = torch.multinomial(F.softmax(scores, -1), 1, generator=generator)
        tokens = torch.cat((tokens, chosen), 1)
    model.train(was_training)
    return tokens
