# wrong: overwrites each head's dropout with nn.Dropout(), so 0.5
# named: dropout of 0
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super(MultiHeadAttentionWrapper, self).__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList()
        for i in range(num_heads):
            head = CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)
            head.dropout = nn.Dropout()
            self.heads.append(head)

    def forward(self, x):
        outputs = []
        for head in self.heads:
            outputs.append(head(x))
        out = torch.cat(outputs, dim=2)
        return out
