# what: qkv_bias is passed as num_heads' place: a sixth argument
# pattern: arguments-exchanged
# causes: 1
# true:
# says: TypeError|positional
# false: [1-9]\d* of \d+ hidden|inputs of other sizes
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, num_heads, qkv_bias) for _ in range(num_heads)]  # <-
        )

    def forward(self, x):
        outputs = []
        for head in self.heads:
            context_vec = head(x)
            outputs.append(context_vec)
        result = torch.cat(outputs, dim=-1)
        return result
