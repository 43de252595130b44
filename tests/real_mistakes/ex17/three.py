# what: two heads, always with a bias, stacked
# pattern: three
# causes: 3
# true: two heads | stacked on a new last dimension | always biased
# says: where no bias was asked for
# false:
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, True) for _ in range(2)]  # <-
        )

    def forward(self, x):
        outputs = []
        for head in self.heads:
            context_vec = head(x)
            outputs.append(context_vec)
        result = torch.stack(outputs, dim=-1)  # <-
        return result
