# wrong: layers and inputs are paired in two different orders, so self.queries meets keys and self.keys query
# named: layers of keys and queries exchanged
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert embed_size % heads == 0, "embed_size must be divisible by heads"
        self.embed_size = embed_size
        self.heads = heads
        self.head_dim = embed_size // heads
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, values, keys, query, mask=None):
        layers = [self.values, self.queries, self.keys]
        V, K, Q = (
            layer(x).unflatten(-1, (self.heads, self.head_dim)).transpose(1, 2)
            for layer, x in zip(layers, [values, keys, query])
        )
        visible = None if mask is None else mask.bool()
        out = F.scaled_dot_product_attention(Q, K, V, attn_mask=visible)
        return self.fc_out(out.transpose(1, 2).flatten(2))
