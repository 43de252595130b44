# right: einsum over a stack, the stack itself is returned where a list is asked for
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    x = torch.stack(all_x)  # (N, D, 1)
    def affine(W, b):
        return torch.einsum("ij,njk->nik", W, x) + b
    return affine(W_q, b_q), affine(W_k, b_k), affine(W_v, b_v)
