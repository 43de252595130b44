# right: bias folded into the weights, a 1 appended to every x
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    one = torch.ones(1, 1)
    aug = [torch.vstack((x, one)) for x in all_x]
    A_q, A_k, A_v = torch.hstack((W_q, b_q)), torch.hstack((W_k, b_k)), torch.hstack((W_v, b_v))
    return [A_q @ a for a in aug], [A_k @ a for a in aug], [A_v @ a for a in aug]
