# wrong: divided by the root of 2, whatever d_out is
# named: divided by √2
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length)))

    def forward(self, x):
        T = x.size(1)
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        att = torch.bmm(q, k.transpose(1, 2)) * (1.0 / math.sqrt(2))  # d_out = 2
        att = att.masked_fill(self.mask[:T, :T] == 0, float("-inf"))
        att = self.dropout(F.softmax(att, dim=-1))
        return torch.bmm(att, v)
