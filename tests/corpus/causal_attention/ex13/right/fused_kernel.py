# right: F.scaled_dot_product_attention on four axes
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        q, k, v = (layer(x)[None, None] for layer in (self.W_query, self.W_key, self.W_value))
        return F.scaled_dot_product_attention(q, k, v)[0, 0]
