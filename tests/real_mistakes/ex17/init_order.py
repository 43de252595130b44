# what: num_heads before dropout in __init__
# pattern: arguments-exchanged
# causes: 1
# true: arguments in another order
# says: exchange|order|change places|num_heads, dropout
# false: [1-9]\d* of \d+ hidden|inputs of other sizes
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, num_heads, dropout, qkv_bias=False):  # <-
        super().__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x):
        outputs = []
        for head in self.heads:
            context_vec = head(x)
            outputs.append(context_vec)
        result = torch.cat(outputs, dim=-1)
        return result
