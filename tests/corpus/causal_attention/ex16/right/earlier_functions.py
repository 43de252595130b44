# right: a loop over the batch with causal_softmax and inverted_dropout
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.p = dropout
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        results = []
        for sequence in x:
            q, k, v = self.W_query(sequence), self.W_key(sequence), self.W_value(sequence)
            weights = causal_softmax(q @ k.T, k.shape[-1])
            weights = inverted_dropout(weights, self.p, self.training)
            results.append(weights @ v)
        return torch.stack(results)
