# what: returns the first sentence from the loop
# pattern: return-in-loop
# causes: 1
# true: first sentence only
# says: inside|loop|first sentence
# false: last sentence
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
        V = self.values(values).view(batch, k_len, self.heads, self.head_dim).transpose(1, 2)
        K = self.keys(keys).view(batch, k_len, self.heads, self.head_dim).transpose(1, 2)
        Q = self.queries(query).view(batch, q_len, self.heads, self.head_dim).transpose(1, 2)
        scores = torch.matmul(Q, K.transpose(-1, -2)) / self.head_dim ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e20)
        weights = torch.softmax(scores, dim=-1)
        mixed = torch.matmul(weights, V)
        mixed = mixed.transpose(1, 2).contiguous().view(batch, q_len, embed)
        results = []
        for sentence in mixed:
            results.append(self.fc_out(sentence))
            return torch.stack(results)  # <-
