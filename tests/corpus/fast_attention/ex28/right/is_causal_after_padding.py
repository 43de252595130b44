# right: queries filled up in front, so that is_causal fits, and the real rows taken
def grouped_query_attention(queries, keys, values, causal=False):
    Hq, Hkv = queries.shape[1], keys.shape[1]
    if Hq % Hkv != 0:
        raise ValueError("heads")
    T, S = queries.shape[2], keys.shape[2]
    if causal:
        queries = F.pad(queries, (0, 0, S - T, 0))
    k = torch.repeat_interleave(keys, Hq // Hkv, 1)
    v = torch.repeat_interleave(values, Hq // Hkv, 1)
    return F.scaled_dot_product_attention(queries, k, v, is_causal=causal)[:, :, -T:]
