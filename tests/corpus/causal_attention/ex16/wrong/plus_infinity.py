# wrong: masked with +inf
# named: no numbers for what is hidden
class CausalAttention(torch.nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super(CausalAttention, self).__init__()
        self.d_in, self.d_out, self.p = d_in, d_out, dropout
        self.W_query = torch.nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = torch.nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = torch.nn.Linear(d_in, d_out, qkv_bias)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length, dtype=torch.bool)))

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)  # (B, T, d_out)
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.d_out)  # (B, T, T)
        scores = scores.masked_fill(~self.mask[:T, :T], -float("-inf"))
        weights = F.softmax(scores, dim=2)
        weights = F.dropout(weights, self.p, training=self.training)
        return torch.bmm(weights, v)
