# wrong: the scores are queries with queries, the keys are computed and not used
# named: queries as keys
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))
        self.scale = d_out ** -0.5

    def forward(self, x):
        q = torch.matmul(x, self.W_query)
        k = torch.matmul(x, self.W_key)
        v = torch.matmul(x, self.W_value)
        scores = torch.einsum("id,jd->ij", q, q) * self.scale
        return torch.einsum("ij,jd->id", F.softmax(scores, dim=1), v)
