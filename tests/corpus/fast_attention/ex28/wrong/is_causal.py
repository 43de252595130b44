# wrong: is_causal of the fused kernel, which begins at the first key
# named: mask from the first key
def grouped_query_attention(queries, keys, values, causal=False):
    Hq, Hkv = queries.shape[1], keys.shape[1]
    if Hq % Hkv != 0:
        raise ValueError("Hq must be a multiple of Hkv")
    return F.scaled_dot_product_attention(queries, keys, values, is_causal=causal, enable_gqa=True)
