# right: computed in float64, returned as it came
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
        x = x + self.dropout(self.attention(self.norm1(x)))
        y = F.layer_norm(x.double(), x.shape[-1:], self.norm2.weight.double(), self.norm2.bias.double())
        y = F.gelu(F.linear(y, self.ff_in.weight.double(), self.ff_in.bias.double()))
        y = F.linear(y, self.ff_out.weight.double(), self.ff_out.bias.double())
        return x + self.dropout(y.to(x.dtype))
