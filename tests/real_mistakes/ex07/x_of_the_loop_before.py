# what: reads all_x instead of X
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: from the notebook|all_x
# false: queries and keys
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    X_all = torch.cat(all_x, dim=1)
    Q = W_q @ X_all + b_q  # <-
    K = W_k @ X + b_k
    V = W_v @ X + b_v
    dk = torch.tensor(K.size(0))
    scores = (K.T @ Q) / torch.sqrt(dk)
    weights = torch.softmax(scores, dim=0)
    return V @ weights
