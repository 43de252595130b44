# what: joined on the words, and reshaped
# pattern: wrong-view
# causes: 1
# true: words mixed up in joining
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
            context_vec = head(x)
            outputs.append(context_vec)
        result = torch.cat(outputs, dim=1).reshape(x.shape[0], x.shape[1], -1)  # <-
        return result
