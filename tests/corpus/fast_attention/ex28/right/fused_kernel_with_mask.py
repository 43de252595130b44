# right: PyTorch's fused kernel with enable_gqa and a mask aligned at the end
def grouped_query_attention(queries, keys, values, causal=False):
    if queries.shape[1] % keys.shape[1] != 0:
        raise ValueError("heads do not fit")
    mask = None
    if causal:
        T, S = queries.shape[2], keys.shape[2]
        mask = torch.ones(T, S, dtype=torch.bool, device=queries.device).tril(S - T)
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, enable_gqa=True)
