# right: a helper function beside does the attention
def attention(q, k, v):
    """softmax(q k^T / sqrt(d_k)) v"""
    d_k = k.shape[-1]
    scores = torch.inner(q, k) / math.sqrt(d_k)
    return torch.softmax(scores, dim=-1) @ v


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Linear(d_in, d_out, bias=qkv_bias) for _ in range(3))

    def forward(self, x):
        return attention(self.W_query(x), self.W_key(x), self.W_value(x))
