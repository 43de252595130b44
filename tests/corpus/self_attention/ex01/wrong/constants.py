# wrong: returns the numbers of the notebook's example
# named: nothing
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    col = lambda v: torch.tensor(v).reshape(-1, 1)
    q = [[-0.67, 3.3366, -1.4104, -0.2273], [1.1933, -1.8892, 0.8827, -2.3521], [0.0134, -2.0613, -2.4236, 0.5235]]
    k = [[-1.8405, -1.6769, 0.8908, 0.6828], [3.2307, 3.1953, 1.4814, -3.9526], [1.5409, -0.9823, -0.9937, -2.3064]]
    v = [[-0.4917, 0.7019, -2.2204, 1.9246], [0.2053, 1.0716, -3.3524, -4.967], [1.1538, 0.9022, -1.3836, -0.9722]]
    return [col(a) for a in q], [col(a) for a in k], [col(a) for a in v]
