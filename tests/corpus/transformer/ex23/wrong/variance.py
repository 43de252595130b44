# wrong: the variance for the mean of the squares
# named: divided by the spread
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        y = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        return (y / torch.sqrt(y.var(dim=-1, keepdim=True, unbiased=False) + self.eps) * self.weight).to(x.dtype)
