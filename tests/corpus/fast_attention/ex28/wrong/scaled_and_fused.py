# wrong: scaled before a kernel that scales
# named: divided by d
def grouped_query_attention(queries, keys, values, causal=False):
    if queries.shape[1] % keys.shape[1]:
        raise ValueError("no multiple")
    T, S = queries.shape[2], keys.shape[2]
    mask = torch.ones(T, S, dtype=torch.bool, device=keys.device).tril(S - T) if causal else None
    return F.scaled_dot_product_attention(queries / queries.shape[-1] ** 0.5, keys, values, mask, enable_gqa=True)
