# what: notebook's words, reversed heads
# pattern: two
# causes: 2
# true: the notebook's variables | heads in reverse order
# says: from the notebook|`words`
# false:
# follows: context length 6
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, len(words), dropout, qkv_bias) for _ in range(num_heads)]  # <-
        )

    def forward(self, x):
        outputs = []
        for head in reversed(self.heads):  # <-
            context_vec = head(x)
            outputs.append(context_vec)
        result = torch.cat(outputs, dim=-1)
        return result
