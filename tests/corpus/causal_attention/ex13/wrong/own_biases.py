# wrong: biases as parameters of their own, called b_query and so on
# named: nothing
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.b_query = nn.Parameter(torch.zeros(d_out)) if qkv_bias else 0
        self.b_key = nn.Parameter(torch.zeros(d_out)) if qkv_bias else 0
        self.b_value = nn.Parameter(torch.zeros(d_out)) if qkv_bias else 0

    def forward(self, x):
        q, k, v = self.W_query(x) + self.b_query, self.W_key(x) + self.b_key, self.W_value(x) + self.b_value
        return torch.softmax(q @ k.T / k.shape[-1] ** 0.5, dim=-1) @ v
