# what: d_out and d_in exchanged
# pattern: arguments-exchanged
# causes: 1
# true: d_in and d_out exchanged
# says:
# false: [1-9]\d* of \d+ hidden
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList(
            [CausalAttention(d_out, d_in, context_length, dropout, qkv_bias) for _ in range(num_heads)]  # <-
        )

    def forward(self, x):
        outputs = []
        for head in self.heads:
            context_vec = head(x)
            outputs.append(context_vec)
        result = torch.cat(outputs, dim=-1)
        return result
