# right: F.layer_norm and F.linear with the parameters of the modules
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
        normed = F.layer_norm(x, x.shape[-1:], self.norm1.weight, self.norm1.bias, self.norm1.eps)
        x = x + self.dropout(self.attention(normed))
        normed = F.layer_norm(x, x.shape[-1:], self.norm2.weight, self.norm2.bias, self.norm2.eps)
        hidden = F.gelu(F.linear(normed, self.ff_in.weight, self.ff_in.bias))
        x = x + self.dropout(F.linear(hidden, self.ff_out.weight, self.ff_out.bias))
        return x
