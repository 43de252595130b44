# wrong: the heads are added, and the sum is stacked on itself to make W_c fit
# named: heads added
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    total = 0
    for params in [(W_v1, W_q1, W_k1, b_v1, b_q1, b_k1), (W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)]:
        total = total + scaled_dot_product_self_attention(X, *params)
    return W_c @ torch.cat([total, total], dim=0)
