# right: heads folded into the batch dim, bmm and baddbmm
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

    def fold(self, y):
        b, t, _ = y.shape
        y = y.reshape(b, t, self.num_heads, self.head_dim).permute(0, 2, 1, 3)
        return y.reshape(b * self.num_heads, t, self.head_dim)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.fold(self.W_query(x)), self.fold(self.W_key(x)), self.fold(self.W_value(x))
        bias = torch.zeros(t, t, dtype=q.dtype, device=q.device)
        bias = bias.masked_fill(self.mask[:t, :t] == 1, float("-inf"))
        scores = torch.baddbmm(bias.expand(b * self.num_heads, t, t), q, k.mT, alpha=1 / self.head_dim**0.5)
        weights = self.dropout(scores.softmax(-1))
        out = torch.bmm(weights, v).view(b, self.num_heads, t, self.head_dim)
        return self.out_proj(out.permute(0, 2, 1, 3).reshape(b, t, self.d_out))
