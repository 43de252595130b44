# right: F.scaled_dot_product_attention with a float mask of 0 and -inf
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
        bias = torch.zeros(q.shape[0], self.heads, q.shape[2], k.shape[2], dtype=q.dtype, device=q.device)
        if mask is not None:
            bias = bias.masked_fill(mask.bool().logical_not(), -torch.inf)
        z = F.scaled_dot_product_attention(q, k, v, bias)
        return self.fc_out(z.permute(0, 2, 1, 3).reshape(*query.shape))
