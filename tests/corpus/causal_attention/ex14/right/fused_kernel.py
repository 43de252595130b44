# right: F.scaled_dot_product_attention gives the weights when the values are an identity matrix
def mask_then_renormalize(attn_weights):
    w = attn_weights.tril()
    sums = torch.matmul(w, torch.ones(w.shape[0], 1, dtype=w.dtype, device=w.device))
    return w / sums


def causal_softmax(attn_scores, d_k):
    one = torch.eye(len(attn_scores), dtype=attn_scores.dtype, device=attn_scores.device)[None]
    # q k^T = scores when q = scores and k = identity
    return F.scaled_dot_product_attention(attn_scores[None], one, one, is_causal=True, scale=d_k**-0.5)[0]
