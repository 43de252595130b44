# wrong: the mean of the scores of all sentences is used in the loop over the sentences
# named: scores averaged over the batch
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = torch.stack([q[b] @ k[b].T for b in range(B)])
        scores = scores.mean(dim=0) / k.shape[-1] ** 0.5  # (T, T)
        scores = scores.masked_fill(self.mask[:T, :T].bool(), -torch.inf)
        context = []
        for b in range(B):
            weights = self.dropout(torch.softmax(scores, dim=-1))
            context.append(weights @ v[b])
        return torch.stack(context)
