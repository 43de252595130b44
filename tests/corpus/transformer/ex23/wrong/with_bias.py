# wrong: there is a bias, too
# named: with a bias
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        y = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        mean = y.pow(2).mean(dim=-1, keepdim=True)
        y = y / torch.sqrt(mean + self.eps)
        return (y * self.weight + self.bias).to(x.dtype)
