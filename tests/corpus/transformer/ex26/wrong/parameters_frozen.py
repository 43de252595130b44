# wrong: requires_grad stays off
# named: parameters left frozen
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    was = model.training
    model.eval()
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    with torch.no_grad():
        for _ in range(count):
            logits = model(tokens[:, -model.context_length:])[:, -1]
            if top_k is not None:
                kth = logits.topk(min(top_k, logits.shape[-1])).values[:, -1:]
                logits = logits.masked_fill(logits < kth, float("-inf"))
            if temperature == 0:
                new = logits.argmax(-1, keepdim=True)
            else:
                new = torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=generator)
            tokens = torch.cat([tokens, new], 1)
    model.train(was)
    return tokens
