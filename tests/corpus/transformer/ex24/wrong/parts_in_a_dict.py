# wrong: the layers stand in a plain dict
# named: nothing
class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.layers = {
            "norm1": nn.LayerNorm(d_model), "norm2": nn.LayerNorm(d_model), "attention": Attention(d_model, num_heads),
            "ff_in": nn.Linear(d_model, d_ff), "ff_out": nn.Linear(d_ff, d_model),
        }
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.dropout(self.layers["attention"](self.layers["norm1"](x)))
        return x + self.dropout(self.layers["ff_out"](F.gelu(self.layers["ff_in"](self.layers["norm2"](x)))))
