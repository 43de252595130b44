# what: chain, bias not passed, largest
# pattern: three
# causes: 3
# true: input detached | never biased | heads in reverse order
# says:
# false:
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, False) for _ in range(num_heads)]  # <-
        )

    def forward(self, x):
        outputs = []
        for head in self.heads:
            context_vec = head(x.detach())  # <-
            outputs.append(context_vec)
        result = torch.cat(outputs[::-1], dim=-1)  # <-
        return result
