# wrong: zeroed and renormalised after softmax, so nothing is left of weights that are far below hidden ones
# named: renormalised after softmax
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length)))

    def forward(self, x):
        T = x.shape[1]
        scores = self.W_query(x) @ self.W_key(x).transpose(1, 2)
        weights = torch.softmax(scores / self.W_key.out_features**0.5, dim=-1)
        weights = weights * self.mask[:T, :T]
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return self.dropout(weights) @ self.W_value(x)
