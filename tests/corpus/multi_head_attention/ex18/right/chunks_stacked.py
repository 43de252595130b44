# right: the heads cut with chunk, stacked, and joined with cat of unbind
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0, "d_out must be divisible by num_heads"
        self.d_out = d_out
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def heads(self, y):
        return torch.stack(y.chunk(self.num_heads, dim=-1), dim=1)  # (B, H, T, head_dim)

    def forward(self, x):
        T = x.shape[1]
        q = self.heads(self.W_query(x))
        k = self.heads(self.W_key(x))
        v = self.heads(self.W_value(x))
        scores = torch.matmul(q, k.permute(0, 1, 3, 2)) / math.sqrt(self.head_dim)
        scores = scores.masked_fill(self.mask[:T, :T] > 0, float("-inf"))
        weights = self.dropout(scores.softmax(3))
        return self.out_proj(torch.cat(torch.matmul(weights, v).unbind(dim=1), dim=-1))
