# wrong: forward runs the first head num_heads times
# named: first head's output repeated
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
            outputs.append(self.heads[0](x))
        out = torch.cat(outputs, dim=2)
        return out
