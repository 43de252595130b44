# wrong: multiplied by the root of d
# named: multiplied by √d
def simple_attention_scores(inputs, query):
    d_k = query.numel()
    return torch.einsum("td,d->t", inputs, query) * d_k**0.5
