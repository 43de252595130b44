# wrong: nn.Linear with its default bias, whatever qkv_bias is
# named: always biased
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out)
        self.W_key = nn.Linear(d_in, d_out)
        self.W_value = nn.Linear(d_in, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length)))

    def forward(self, x):
        T = x.shape[1]
        scores = self.W_query(x) @ self.W_key(x).mT / self.W_key.out_features**0.5
        scores = scores.masked_fill(self.mask[:T, :T] == 0, -torch.inf)
        return self.dropout(scores.softmax(dim=-1)) @ self.W_value(x)
