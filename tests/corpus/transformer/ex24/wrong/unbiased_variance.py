# wrong: an own norm that divides by n − 1
# named: nothing
class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / (x.std(-1, keepdim=True) + 1e-5) * self.weight + self.bias


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.norm1 = Norm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.norm2 = Norm(d_model)
        self.ff_in = nn.Linear(d_model, d_ff)
        self.ff_out = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.dropout(self.attention(self.norm1(x)))
        x = x + self.dropout(self.ff_out(F.gelu(self.ff_in(self.norm2(x)))))
        return x
