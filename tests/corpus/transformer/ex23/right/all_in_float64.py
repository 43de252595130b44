# right: computed in float64
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        z = x.double()
        size = ((z * z).sum(-1) / z.shape[-1] + self.eps) ** 0.5
        return (z / size.unsqueeze(-1) * self.weight).to(x.dtype)
