# what: one head too many, no bias, on the batch
# pattern: three
# causes: 3
# true: one head too many | never biased | joined on the batch
# says:
# false:
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        blocks = []
        for _ in range(num_heads + 1):  # <-
            blocks.append(CausalAttention(d_in, d_out, context_length, dropout))  # <-
        self.heads = nn.ModuleList(blocks)

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=0)  # <-
