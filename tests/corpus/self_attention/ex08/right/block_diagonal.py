# right: both heads in one (2N, 2N) score matrix with -inf outside the diagonal blocks
def multihead_scaled_self_attention(
    X, W_v1, W_q1, W_k1, b_v1, b_q1, b_k1, W_v2, W_q2, W_k2, b_v2, b_q2, b_k2, W_c
):
    N = X.shape[1]
    K = torch.block_diag(W_k1 @ X + b_k1, W_k2 @ X + b_k2)
    Q = torch.block_diag(W_q1 @ X + b_q1, W_q2 @ X + b_q2)
    V = torch.block_diag(W_v1 @ X + b_v1, W_v2 @ X + b_v2)
    S = K.T @ Q / math.sqrt(W_q1.shape[0])
    inside = torch.block_diag(torch.ones(N, N), torch.ones(N, N)).bool()
    A = torch.softmax(S.masked_fill(~inside, float("-inf")), dim=0)
    out = V @ A  # (2d, 2N), zero outside the blocks
    return W_c @ (out[:, :N] + out[:, N:])
