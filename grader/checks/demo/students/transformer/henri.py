# A loop that never ends in exercise 26, and a name that does not exist in exercise 23.
class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        return x * self.wieght / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    new = []
    while len(new) < count:
        probabilities = torch.softmax(model(tokens)[:, -1] / temperature, dim=-1)
        token = torch.multinomial(probabilities, 1, generator=generator)
    return torch.cat([tokens, *new], dim=1)
