# wrong: nn.RMSNorm for nn.LayerNorm
# named: norms without biases
class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.norm1 = nn.RMSNorm(d_model)
        self.attention = Attention(d_model, num_heads)
        self.norm2 = nn.RMSNorm(d_model)
        self.ff_in = nn.Linear(d_model, d_ff)
        self.ff_out = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.dropout(self.attention(self.norm1(x)))
        x = x + self.dropout(self.ff_out(F.gelu(self.ff_in(self.norm2(x)))))
        return x
