# what: one head too few
# pattern: off-by-one
# causes: 1
# true: one head too few
# says:
# false:
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(1, num_heads)]  # <-
        )

    def forward(self, x):
        outputs = []
        for head in self.heads:
            context_vec = head(x)
            outputs.append(context_vec)
        result = torch.cat(outputs, dim=-1)
        return result
