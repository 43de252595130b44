# right: each text of the batch on its own, heads next to each other with hstack
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def forward(self, x):
        texts = []
        for text in x:  # (T, d_in)
            one = text.unsqueeze(0)
            texts.append(torch.hstack([head(one).squeeze(0) for head in self.heads]))
        return torch.stack(texts)
