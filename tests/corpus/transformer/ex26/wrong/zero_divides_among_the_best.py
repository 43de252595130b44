# wrong: with top_k, a temperature of 0 is divided by
# named: nothing
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    was = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits = model(tokens[:, -model.context_length :])[:, -1]
            if top_k is not None:
                best, which = logits.topk(top_k)
                new = which.gather(1, torch.multinomial(torch.softmax(best / temperature, -1), 1, generator=generator))
            elif temperature == 0:
                new = logits.argmax(-1, keepdim=True)
            else:
                new = torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=generator)
            tokens = torch.cat([tokens, new], 1)
    model.train(was)
    return tokens
