# wrong: the norms stand behind the parts, before the sums
# named: norm of what the parts return
class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.ff_in = nn.Linear(d_model, d_ff)
        self.ff_out = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        seen = self.norm1(self.attention(x))
        x = x + self.dropout(seen)
        thought = self.norm2(self.ff_out(F.gelu(self.ff_in(x))))
        return x + self.dropout(thought)
