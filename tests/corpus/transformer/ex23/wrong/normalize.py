# wrong: F.normalize, which knows no eps of ours
# named: eps without effect
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        return F.normalize(x.float(), dim=-1).to(x.dtype) * self.weight * math.sqrt(x.shape[-1])
