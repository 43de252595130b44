# right: every step has a name
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
        normalised = self.norm1(x)
        attended = self.attention(normalised)
        dropped = self.dropout(attended)
        after_attention = x + dropped
        normalised = self.norm2(after_attention)
        hidden = self.ff_in(normalised)
        activated = F.gelu(hidden)
        output = self.ff_out(activated)
        dropped = self.dropout(output)
        x = after_attention + dropped
        return x
