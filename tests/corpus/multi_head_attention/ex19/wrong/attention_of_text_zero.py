# wrong: in the loop over the texts, the attention of text 0 is used for each
# named: first sentence's weights for all
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        if embed_size % heads:
            raise ValueError("embed_size must be divisible by heads")
        self.heads = heads
        self.head_dim = embed_size // heads
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)

    def split(self, x):
        return x.unflatten(-1, (self.heads, self.head_dim)).transpose(1, 2)

    def forward(self, values, keys, query, mask=None):
        V, K, Q = self.split(self.values(values)), self.split(self.keys(keys)), self.split(self.queries(query))
        scores = Q @ K.mT / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = F.softmax(scores, dim=-1)  # (N, H, Q, K)
        texts = []
        for n in range(query.shape[0]):
            one = weights[0] @ V[n]  # (H, Q, d)
            texts.append(one.transpose(0, 1).flatten(1))
        return self.fc_out(torch.stack(texts))
