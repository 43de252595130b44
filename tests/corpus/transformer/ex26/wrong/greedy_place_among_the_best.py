# wrong: a greedy token among the best is its place among them
# named: nothing
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    was = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits, which = model(tokens[:, -model.context_length :])[:, -1], None
            if top_k is not None:
                logits, which = logits.topk(top_k)
            if temperature == 0:
                new = logits.argmax(-1, keepdim=True)
            else:
                new = torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=generator)
                new = new if which is None else which.gather(1, new)
            tokens = torch.cat([tokens, new], 1)
    model.train(was)
    return tokens
