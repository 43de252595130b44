# right: heads called by index, number of heads from the ModuleList
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super(MultiHeadAttentionWrapper, self).__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList()
        for i in range(num_heads):
            self.heads.append(CausalAttention(d_in, d_out, context_length, dropout, qkv_bias))

    def forward(self, x):
        outputs = [None] * len(self.heads)
        for i in range(len(self.heads)):
            outputs[i] = self.heads[i].forward(x)
        return torch.cat(outputs, dim=x.ndim - 1)
