# wrong: one head of size num_heads * d_out instead of several
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super(MultiHeadAttentionWrapper, self).__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList()
        self.heads.append(CausalAttention(d_in, d_out * num_heads, context_length, dropout, qkv_bias))

    def forward(self, x):
        outputs = []
        for head in self.heads:
            outputs.append(head(x))
        out = torch.cat(outputs, dim=2)
        return out
