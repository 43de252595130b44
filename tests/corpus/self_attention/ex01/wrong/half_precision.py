# wrong: computed in float16 "to be faster"
# named: nothing
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    def f(W, b, x):
        return (W.half() @ x.half() + b.half()).float()

    return [f(W_q, b_q, x) for x in all_x], [f(W_k, b_k, x) for x in all_x], [f(W_v, b_v, x) for x in all_x]
