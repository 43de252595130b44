# wrong: sqrt(8), the notebook's D, is written as a number
# named: divided by √8
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    outputs = []
    for Wv, Wq, Wk, bv, bq, bk in (
        (W_v1, W_q1, W_k1, b_v1, b_q1, b_k1),
        (W_v2, W_q2, W_k2, b_v2, b_q2, b_k2),
    ):
        q, k, v = Wq @ X + bq, Wk @ X + bk, Wv @ X + bv
        weights = torch.softmax(k.T @ q / math.sqrt(8), dim=0)
        outputs.append(v @ weights)
    return W_c @ torch.cat(outputs, dim=0)
