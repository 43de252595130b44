# wrong: takes (B, T, d_in) for (T, B, d_in)
# named: words and sentences exchanged
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def forward(self, x):
        x = x.permute(1, 0, 2)  # to (B, T, d_in), or so it was meant
        n = x.shape[1]
        scores = self.W_query(x) @ self.W_key(x).transpose(1, 2) / self.W_key.out_features**0.5
        scores = scores.masked_fill(self.mask[:n, :n], float("-inf"))
        context = self.dropout(torch.softmax(scores, dim=-1)) @ self.W_value(x)
        return context.permute(1, 0, 2)
