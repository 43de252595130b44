# right: a small class inside the function
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    class Projection:
        def __init__(self, W, b):
            self.W, self.b = W, b

        def __call__(self, xs):
            return [self.b + self.W @ x for x in xs]

    return Projection(W_q, b_q)(all_x), Projection(W_k, b_k)(all_x), Projection(W_v, b_v)(all_x)
