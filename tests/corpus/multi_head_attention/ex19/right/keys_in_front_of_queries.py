# right: scores (N, H, K, Q), softmax over dim 2, the mask transposed to fit
class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        assert not embed_size % heads, "choose another number of heads"
        self.shape = heads, embed_size // heads
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, values, keys, query, mask=None):
        k = self.keys(keys).unflatten(2, self.shape)
        q = self.queries(query).unflatten(2, self.shape)
        v = self.values(values).unflatten(2, self.shape)
        energy = torch.einsum("nkhd,nqhd->nhkq", k, q) / self.shape[1] ** 0.5
        if mask is not None:
            energy = energy.masked_fill(mask.transpose(-1, -2) == 0, float("-inf"))
        return self.fc_out(torch.einsum("nhkq,nkhd->nqhd", energy.softmax(dim=2), v).flatten(2))
