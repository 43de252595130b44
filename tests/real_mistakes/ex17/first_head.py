# what: index 0 stayed
# pattern: copied-line
# causes: 1
# true: first head's output repeated
# says:
# false:
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x):
        outputs = []
        for head in self.heads:
            context_vec = self.heads[0](x)  # <-
            outputs.append(context_vec)
        result = torch.cat(outputs, dim=-1)
        return result
