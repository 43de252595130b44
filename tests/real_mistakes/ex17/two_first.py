# what: first head repeated, dropout missing
# pattern: two
# causes: 2
# true: first head's output repeated | nothing dropped
# says:
# false:
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, 0.0, qkv_bias) for _ in range(num_heads)]  # <-
        )

    def forward(self, x):
        outputs = []
        for head in self.heads:
            context_vec = self.heads[0](x)  # <-
            outputs.append(context_vec)
        result = torch.cat(outputs, dim=-1)
        return result
