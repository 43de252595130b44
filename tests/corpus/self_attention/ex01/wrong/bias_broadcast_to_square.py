# wrong: the bias is flattened, so broadcasting makes a D x D matrix of every vector
# named: vectors in place of columns
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    q = [W_q @ x + b_q.squeeze() for x in all_x]
    k = [W_k @ x + b_k.squeeze() for x in all_x]
    v = [W_v @ x + b_v.squeeze() for x in all_x]
    return q, k, v
