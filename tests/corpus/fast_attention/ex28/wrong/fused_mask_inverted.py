# wrong: what is True takes part in PyTorch's kernel
# named: mask inverted, zeros of nothing
def grouped_query_attention(queries, keys, values, causal=False):
    if queries.shape[1] % keys.shape[1] != 0:
        raise ValueError("Hq must be a multiple of Hkv")
    T, S = queries.shape[-2], keys.shape[-2]
    mask = None
    if causal:
        mask = torch.ones(T, S, dtype=torch.bool, device=queries.device).triu(S - T + 1)
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, enable_gqa=True)
