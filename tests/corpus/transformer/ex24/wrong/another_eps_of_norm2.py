# wrong: the eps of the second norm is 1e-6
# named: nothing


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model); self.norm2 = nn.LayerNorm(d_model, eps=1e-6)
        self.attention = Attention(d_model, num_heads)
        self.ff_in = nn.Linear(d_model, d_ff); self.ff_out = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)
    def forward(self, x):
        x = x + self.dropout(self.attention(self.norm1(x)))
        return x + self.dropout(self.ff_out(F.gelu(self.ff_in(self.norm2(x)))))

