# wrong: the largest score that is subtracted is at least 0
# named: nothing
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        keys = x @ self.W_key
        scores = x @ self.W_query @ keys.T / keys.shape[-1] ** 0.5
        e = torch.exp(scores - scores.amax(-1, keepdim=True).relu())
        return e / e.sum(-1, keepdim=True) @ (x @ self.W_value)
