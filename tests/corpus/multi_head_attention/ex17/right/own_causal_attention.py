# right: the student's own CausalAttention of exercise 16 pasted above
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.d_out = d_out
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length)).bool())

    def forward(self, x):
        n = x.size(1)
        q = self.W_query(x)
        k = self.W_key(x)
        scores = torch.bmm(q, k.mT) / math.sqrt(self.d_out)
        scores = torch.where(self.mask[:n, :n], scores, torch.tensor(float("-inf")).to(scores))
        return self.dropout(F.softmax(scores, dim=2)) @ self.W_value(x)


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        head = lambda: CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)
        self.heads = nn.ModuleList([head() for _ in range(num_heads)])

    def forward(self, x):
        return torch.cat([h(x) for h in self.heads], 2)
