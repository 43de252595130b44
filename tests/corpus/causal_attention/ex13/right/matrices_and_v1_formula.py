# right: weights transposed by hand as v1 needs them
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        def affine(layer):
            y = x @ layer.weight.T
            if layer.bias is not None:
                y = y + layer.bias
            return y

        queries, keys, values = affine(self.W_query), affine(self.W_key), affine(self.W_value)
        scores = queries @ keys.T
        weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
        return weights @ values
