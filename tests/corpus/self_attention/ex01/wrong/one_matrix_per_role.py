# wrong: right numbers, but one matrix per role with a word in each column
# named: words side by side
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    X = torch.hstack(all_x)
    Q = torch.matmul(W_q, X) + b_q
    K = torch.matmul(W_k, X) + b_k
    V = torch.matmul(W_v, X) + b_v
    return Q, K, V
