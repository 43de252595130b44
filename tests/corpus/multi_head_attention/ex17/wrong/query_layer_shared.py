# wrong: all heads share the query layer of the first one
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super(MultiHeadAttentionWrapper, self).__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList()
        for i in range(num_heads):
            self.heads.append(CausalAttention(d_in, d_out, context_length, dropout, qkv_bias))
        for head in self.heads[1:]:
            head.W_query = self.heads[0].W_query

    def forward(self, x):
        outputs = []
        for head in self.heads:
            outputs.append(head(x))
        out = torch.cat(outputs, dim=2)
        return out
