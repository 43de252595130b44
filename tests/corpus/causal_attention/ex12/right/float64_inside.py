# right: float64 inside, cast back
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out), requires_grad=True)
        self.W_key = nn.Parameter(torch.rand(d_in, d_out), requires_grad=True)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out), requires_grad=True)

    def forward(self, x):
        q, k, v = (x.double() @ W.double() for W in (self.W_query, self.W_key, self.W_value))
        w = torch.softmax(q @ k.T / math.sqrt(k.size(-1)), dim=-1)
        return (w @ v).to(x.dtype)
