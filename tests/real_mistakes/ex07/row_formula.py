# what: the formula for rows, on columns: D must be N
# pattern: words-as-rows
# causes: 1
# true: dimensions compared, by the formula for rows, down columns | dimensions compared | words as rows
# says:
# false:
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    dk = torch.tensor(K.size(0))
    scores = (Q @ K.T) / torch.sqrt(dk)  # <-
    weights = torch.softmax(scores, dim=0)
    return weights @ V  # <-
