# wrong: the return stands inside the loop over the sentences of the batch
# named: first sentence only
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        contexts = []
        for sentence in x:  # (T, d_in)
            T = sentence.shape[0]
            q, k, v = self.W_query(sentence), self.W_key(sentence), self.W_value(sentence)
            scores = q @ k.T / k.shape[-1] ** 0.5
            scores = scores.masked_fill(self.mask[:T, :T].bool(), float("-inf"))
            weights = self.dropout(F.softmax(scores, dim=-1))
            contexts.append(weights @ v)
            return torch.cat(contexts)
