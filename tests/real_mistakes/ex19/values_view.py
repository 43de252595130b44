# what: the values alone are viewed with heads before words
# pattern: wrong-view
# causes: 1
# true:
# says: values.*mix|view
# false: keys.*mixed|merging
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert embed_size % heads == 0
        self.heads = heads
        self.head_dim = embed_size // heads
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, values, keys, query, mask=None):
        batch, q_len, embed = query.shape
        k_len = keys.shape[1]
        V = self.values(values).view(batch, self.heads, k_len, self.head_dim)  # <-
        K = self.keys(keys).view(batch, k_len, self.heads, self.head_dim).transpose(1, 2)
        Q = self.queries(query).view(batch, q_len, self.heads, self.head_dim).transpose(1, 2)
        scores = torch.matmul(Q, K.transpose(-1, -2)) / self.head_dim ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e20)
        weights = torch.softmax(scores, dim=-1)
        mixed = torch.matmul(weights, V)
        mixed = mixed.transpose(1, 2).contiguous().view(batch, q_len, embed)
        return self.fc_out(mixed)
