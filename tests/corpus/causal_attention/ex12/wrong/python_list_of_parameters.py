# wrong: the parameters stand in a python list, which the module does not see
# named: nothing
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.weights = [nn.Parameter(torch.rand(d_in, d_out)) for _ in range(3)]

    def forward(self, x):
        q, k, v = [x @ W for W in self.weights]
        return torch.softmax(q @ k.T / k.shape[-1] ** 0.5, dim=-1) @ v
