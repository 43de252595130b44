# wrong: wraps nn.MultiheadAttention: other parameter names
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(embed_size, heads, bias=False, batch_first=True)

    def forward(self, values, keys, query, mask=None):
        if mask is not None:
            mask = (mask == 0).squeeze(1).squeeze(1)
        return self.attention(query, keys, values, key_padding_mask=mask)[0]
