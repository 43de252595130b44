# wrong: never in evaluation mode, and the smallest of the best logits has no axis of its own
# named: smallest of the best without its axis + not in evaluation mode
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    for _ in range(count):
        with torch.no_grad():
            logits = model(tokens[:, -model.context_length:])
        logits = logits[:, -1, :]
        if top_k is not None:
            top_logits, _ = torch.topk(logits, top_k)
            min_val = top_logits[:, -1]
            logits = torch.where(logits < min_val, torch.tensor(float("-inf")), logits)
        if temperature > 0.0:
            probas = torch.softmax(logits / temperature, dim=-1)
            next_token = torch.multinomial(probas, num_samples=1, generator=generator)
        else:
            next_token = torch.argmax(logits, dim=-1, keepdim=True)
        tokens = torch.cat((tokens, next_token), dim=1)
    return tokens
