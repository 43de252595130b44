# right: float64 inside through a lambda, cast back
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    d = lambda t: t.to(torch.float64)
    head = lambda Wv, Wq, Wk, bv, bq, bk: (d(Wv) @ d(X) + d(bv)) @ torch.softmax(
        (d(Wk) @ d(X) + d(bk)).T @ (d(Wq) @ d(X) + d(bq)) / Wq.shape[0] ** 0.5, 0
    )
    both = [head(W_v1, W_q1, W_k1, b_v1, b_q1, b_k1), head(W_v2, W_q2, W_k2, b_v2, b_q2, b_k2)]
    return (d(W_c) @ torch.cat(both)).to(X.dtype)
