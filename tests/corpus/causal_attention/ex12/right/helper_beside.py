# right: a helper function beside, F.linear with transposed weights
def attend(q, k, v):
    s = q.mm(k.t()).div(k.shape[1] ** 0.5)
    e = (s - s.amax(dim=1, keepdim=True)).exp()
    return (e / e.sum(dim=1, keepdim=True)).mm(v)


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        return attend(F.linear(x, self.W_query.T), F.linear(x, self.W_key.T), F.linear(x, self.W_value.T))
