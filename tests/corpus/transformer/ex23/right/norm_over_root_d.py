# right: by the length of the vector
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.register_parameter("weight", nn.Parameter(torch.ones(d_model)))
        self.eps = eps

    def forward(self, x):
        dtype = x.dtype
        x = x.to(torch.float32)
        squares = torch.linalg.vector_norm(x, dim=-1, keepdim=True) ** 2 / x.size(-1)
        return (self.weight * x / (squares + self.eps).sqrt()).to(dtype)
