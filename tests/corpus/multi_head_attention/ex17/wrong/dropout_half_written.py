# wrong: dropout=0.5 whatever the argument says
# named: dropout of 0
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList(
            CausalAttention(
                d_in=d_in,
                d_out=d_out,
                context_length=context_length,
                dropout=0.5,
                qkv_bias=qkv_bias,
            )
            for _ in range(num_heads)
        )

    def forward(self, x):
        # (B, T, d_out) for each head
        per_head = torch.stack([h(x) for h in self.heads], dim=2)  # (B, T, H, d_out)
        return per_head.flatten(2)
