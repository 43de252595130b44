# wrong: the input is dropped out as well, and in place
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super(MultiHeadAttentionWrapper, self).__init__()
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout, inplace=True)
        self.heads = nn.ModuleList()
        for i in range(num_heads):
            self.heads.append(CausalAttention(d_in, d_out, context_length, dropout, qkv_bias))

    def forward(self, x):
        x = self.dropout(x)
        outputs = []
        for head in self.heads:
            outputs.append(head(x))
        out = torch.cat(outputs, dim=2)
        return out
