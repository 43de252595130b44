# right: what each part returns is a tensor of its own, to which x is added in place
class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ff_in = nn.Linear(d_model, d_ff)
        self.ff_out = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        made = self.dropout(self.attention(self.norm1(x)))
        made += x
        last = self.dropout(self.ff_out(F.gelu(self.ff_in(self.norm2(made)))))
        last += made
        return last
