# right: asserts on shapes, ModuleList.extend
class MultiHeadAttentionWrapper(torch.nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.context_length = context_length
        self.out_features = num_heads * d_out
        self.heads = torch.nn.ModuleList()
        self.heads.extend(
            CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)
        )

    def forward(self, batch):
        assert batch.dim() == 3, "expected (B, T, d_in)"
        assert batch.shape[1] <= self.context_length
        contexts = torch.cat([attend(batch) for attend in self.heads], dim=-1)
        assert contexts.shape[-1] == self.out_features
        return contexts
