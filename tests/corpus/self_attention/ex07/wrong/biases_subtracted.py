# wrong: minus the biases
# named: bias subtracted
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):
    values = torch.mm(W_v, X) - b_v
    queries = torch.mm(W_q, X) - b_q
    keys = torch.mm(W_k, X) - b_k
    scores = torch.mm(keys.T, queries) / math.sqrt(keys.shape[0])
    return torch.mm(values, softmax_cols(scores))
