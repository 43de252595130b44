# wrong: F.scaled_dot_product_attention with is_causal when there is no mask
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        if embed_size % heads != 0:
            raise ValueError("embed_size has to be a multiple of heads")
        self.heads = heads
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)

    def split(self, x):
        n, length, e = x.shape
        return x.view(n, length, self.heads, e // self.heads).transpose(1, 2)  # (N, H, length, d)

    def forward(self, values, keys, query, mask=None):
        q, k, v = self.split(self.queries(query)), self.split(self.keys(keys)), self.split(self.values(values))
        if mask is None:
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask != 0)
        return self.fc_out(out.transpose(1, 2).flatten(2))
