# wrong: computed in the type of the input
# named: computed in 16 bits
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        y = x
        mean = y.pow(2).mean(dim=-1, keepdim=True)
        y = y / torch.sqrt(mean + self.eps)
        return (y * self.weight).to(x.dtype)
