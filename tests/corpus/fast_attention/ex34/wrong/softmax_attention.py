# wrong: softmax attention
# named: ordinary attention
def linear_attention(queries, keys, values):
    T, d = queries.shape[-2:]
    mask = torch.triu(torch.ones(T, T, dtype=torch.bool, device=queries.device), 1)
    return torch.softmax((queries @ keys.mT / math.sqrt(d)).masked_fill(mask, -math.inf), -1) @ values
