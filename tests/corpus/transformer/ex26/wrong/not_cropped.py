# wrong: the context is never cropped
# named: not cropped
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            logits = model(tokens)[:, -1, :]
            if temperature == 0:
                new = logits.argmax(dim=-1, keepdim=True)
            else:
                logits = logits / temperature
                if top_k is not None:
                    kth = torch.topk(logits, top_k).values[:, [-1]]
                    logits = torch.where(logits < kth, float("-inf"), logits)
                new = torch.multinomial(torch.softmax(logits, dim=-1), num_samples=1, generator=generator)
            tokens = torch.cat((tokens, new), dim=1)
    model.train(was_training)
    return tokens
