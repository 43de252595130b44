# right: norms and parts in pairs, gone through in a loop
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
        parts = [(self.norm1, self.attention), (self.norm2, self.feed_forward)]
        for norm, part in parts:
            x = x + self.dropout(part(norm(x)))
        return x

    def feed_forward(self, x):
        return self.ff_out(F.gelu(self.ff_in(x)))
