# what: d_in twice, rate 0.5, joined on the batch
# pattern: three
# causes: 3
# true: d_in passed twice | dropout of 0 | joined on the batch
# says:
# false:
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_in, context_length, 0.5, qkv_bias) for _ in range(num_heads)]  # <-
        )

    def forward(self, x):
        outputs = []
        for head in self.heads:
            context_vec = head(x) * 2  # <-
            outputs.append(context_vec)
        result = torch.cat(outputs, dim=0)  # <-
        return result
