# right: F.scaled_dot_product_attention with a mask
def padded_attention(queries, keys, values, lengths, causal=False):
    T, S = queries.shape[-2], keys.shape[-2]
    seen = torch.arange(S, device=keys.device)[None, :] < lengths.to(keys.device)[:, None]
    seen = seen[:, None, None, :].expand(-1, -1, T, -1)
    if causal:
        seen = seen & torch.ones(T, S, dtype=torch.bool, device=keys.device).tril()
    any_seen = seen.any(-1, keepdim=True)
    out = F.scaled_dot_product_attention(queries, keys, values, attn_mask=seen | ~any_seen)
    return torch.where(any_seen, out, torch.zeros_like(out))
