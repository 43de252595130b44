# wrong: the weights meet the keys, the values are computed and not used
# named: keys as values
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.d_out = d_out
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        q = self.W_query(x)  # (T, d_out)
        k = self.W_key(x)  # (T, d_out)
        v = self.W_value(x)  # (T, d_out)
        att = torch.einsum("qd,kd->qk", q, k) / self.d_out**0.5
        att = att.softmax(-1)
        return torch.einsum("qk,kd->qd", att, k)
