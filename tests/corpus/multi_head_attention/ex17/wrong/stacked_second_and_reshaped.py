# wrong: (B, H, T, d_out) reshaped to (B, T, H * d_out) without transposing
# named: words mixed up in joining
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super(MultiHeadAttentionWrapper, self).__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList()
        for i in range(num_heads):
            self.heads.append(CausalAttention(d_in, d_out, context_length, dropout, qkv_bias))

    def forward(self, x):
        outputs = []
        for head in self.heads:
            outputs.append(head(x))
        out = torch.stack(outputs, dim=1)
        return out.reshape(x.shape[0], x.shape[1], -1)
