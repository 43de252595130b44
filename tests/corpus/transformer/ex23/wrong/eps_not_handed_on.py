# wrong: F.rms_norm without eps
# named: PyTorch's eps
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        y = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        return F.rms_norm(y, y.shape[-1:], self.weight.to(y.dtype)).to(x.dtype)
