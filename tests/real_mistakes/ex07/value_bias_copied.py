# what: the values have the bias of the queries
# pattern: copied-line
# causes: 1
# true:
# says: b_q|bias of the values
# false: is missing|leave out|weigh the keys|[Bb]iases are not
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    Q = W_q @ X + b_q
    K = W_k @ X + b_k
    V = W_v @ X + b_q  # <-
    dk = torch.tensor(K.size(0))
    scores = (K.T @ Q) / torch.sqrt(dk)
    weights = torch.softmax(scores, dim=0)
    return V @ weights
