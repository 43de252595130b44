# what: d_in from the notebook's inputs
# pattern: notebook-variables
# causes: 1
# true: the notebook's variables
# says: from the notebook|`inputs`
# false: [1-9]\d* of \d+ hidden|inputs of other sizes
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList(
            [CausalAttention(inputs.shape[-1], d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]  # <-
        )

    def forward(self, x):
        outputs = []
        for head in self.heads:
            context_vec = head(x)
            outputs.append(context_vec)
        result = torch.cat(outputs, dim=-1)
        return result
