# right: torch.add, layers made in another order
class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.attention = Attention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ff_in = nn.Linear(d_model, d_ff)
        self.ff_out = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(p=dropout)
        self.norm1 = nn.LayerNorm(normalized_shape=d_model)

    def forward(self, x):
        x = torch.add(self.dropout(self.attention(self.norm1(x))), x)
        x = x + self.dropout(self.ff_out(F.gelu(self.ff_in(self.norm2(x)))))
        return x
