# right: torch.addmm, tuples instead of lists
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    q = tuple(torch.addmm(b_q, W_q, x) for x in all_x)
    k = tuple(torch.addmm(b_k, W_k, x) for x in all_x)
    v = tuple(torch.addmm(b_v, W_v, x) for x in all_x)
    return q, k, v
