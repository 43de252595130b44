# wrong: a method projects x, and always with W_query
# named: queries in all roles
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def project(self, x):
        return self.W_query(x)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.project(x), self.project(x), self.project(x)
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
        scores = torch.where(self.mask[:T, :T] > 0, -torch.inf, scores)
        return torch.matmul(self.dropout(torch.softmax(scores, dim=-1)), v)
