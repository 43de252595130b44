# what: div without an underscore
# pattern: lost-result
# causes: 1
# true:
# says: throws? .*away
# false:
# follows: not scaled
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    dk = torch.tensor(K.size(0))
    scores = K.T @ Q
    scores.div(torch.sqrt(dk))  # <-
    weights = torch.softmax(scores, dim=0)
    return V @ weights
