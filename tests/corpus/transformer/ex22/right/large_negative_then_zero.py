# right: a large negative number, and weights of hidden keys made zero
def padded_attention(queries, keys, values, lengths, causal=False):
    scores = torch.einsum("bhqd,bhkd->bhqk", queries, keys) * queries.size(-1) ** -0.5
    key = torch.arange(keys.size(2), device=keys.device)
    seen = (key < lengths.to(keys.device).view(-1, 1, 1, 1)).expand_as(scores)
    if causal:
        seen = seen & (key <= torch.arange(queries.size(2), device=keys.device)[:, None])
    weights = F.softmax(scores.masked_fill(~seen, torch.finfo(scores.dtype).min), dim=-1) * seen
    return torch.einsum("bhqk,bhkv->bhqv", weights, values)
