# right: dropout by hand with torch.bernoulli
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        assert 0 <= dropout < 1
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.keep = 1 - dropout
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        T = x.shape[1]
        scores = self.W_query(x) @ self.W_key(x).transpose(1, 2) / self.W_key.out_features**0.5
        weights = torch.softmax(scores.masked_fill(self.mask[:T, :T].bool(), -torch.inf), dim=-1)
        if self.training:
            weights = weights * torch.bernoulli(torch.full_like(weights, self.keep)) / self.keep
        return weights @ self.W_value(x)
