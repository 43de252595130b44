# right: an empty output, filled slice by slice
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.d_out = d_out
        self.num_heads = num_heads
        self.heads = nn.ModuleList([])
        for _ in range(num_heads):
            self.heads.append(CausalAttention(d_in, d_out, context_length, dropout, qkv_bias))

    def forward(self, x):
        B, T, _ = x.shape
        out = torch.zeros(B, T, self.num_heads * self.d_out, dtype=x.dtype, device=x.device)
        for i, head in enumerate(self.heads):
            out[:, :, i * self.d_out : (i + 1) * self.d_out] = head(x)
        return out
