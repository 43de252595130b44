# right: a module with a forward of its own, and a softmax layer
class WayBack(nn.Module):
    def __init__(self, d: int) -> None:
        super().__init__()
        self.register_buffer("scale", torch.tensor(d**-0.5))
        self.normalise = nn.Softmax(dim=-1)

    @property
    def factor(self) -> float:
        return float(self.scale)

    def forward(self, q, k, v, g):
        p = self.normalise(torch.matmul(q, k.transpose(-2, -1)) * self.factor)
        dp = torch.matmul(g, v.transpose(-2, -1))
        ds = self._scores(p, dp) * self.factor
        return ds @ k, ds.transpose(-2, -1) @ q, p.transpose(-2, -1) @ g

    @staticmethod
    def _scores(p, dp):
        return p * dp - p * torch.sum(p * dp, -1, keepdim=True)


@torch.no_grad()
def attention_backward(queries, keys, values, grad_output):
    return WayBack(queries.size(-1)).eval()(queries, keys, values, grad_output)
