# wrong: wraps nn.MultiheadAttention: other parameters
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.proj = nn.Linear(d_in, d_out)
        self.attn = nn.MultiheadAttention(d_out, num_heads, dropout=dropout, bias=qkv_bias, batch_first=True)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1).bool())

    def forward(self, x):
        T = x.shape[1]
        y = self.proj(x)
        out, _ = self.attn(y, y, y, attn_mask=self.mask[:T, :T], need_weights=False)
        return out
