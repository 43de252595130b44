# wrong: a helper for the scale computes (d_out ** 1) / 2
# named: half the length
def scale_of(d_out):
    return d_out**1/2


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        q, k, v = (layer(x) for layer in (self.W_query, self.W_key, self.W_value))
        w = softmax_stable(q @ k.T / scale_of(k.shape[1]), dim=1)
        return w @ v
