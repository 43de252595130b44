# wrong: a ReLU after the affine map
# named: nothing
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    q = [torch.relu(b_q + W_q @ x) for x in all_x]
    k = [torch.relu(b_k + W_k @ x) for x in all_x]
    v = [torch.relu(b_v + W_v @ x) for x in all_x]
    return q, k, v
