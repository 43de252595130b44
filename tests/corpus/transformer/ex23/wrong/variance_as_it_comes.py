# wrong: var as it is, which divides by d_model − 1
# named: divided by the spread + sum of squares less one
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        y = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        return (y / torch.sqrt(y.var(dim=-1, keepdim=True) + self.eps) * self.weight).to(x.dtype)
