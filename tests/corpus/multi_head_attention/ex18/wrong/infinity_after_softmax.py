# wrong: -inf is filled in after the softmax
# named: no numbers for what is hidden, after softmax
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

    def forward(self, x):
        B, T, _ = x.shape

        # (B, T, d_out) -> (B, T, H, head_dim) -> (B, H, T, head_dim)
        queries = self.W_query(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)
        keys = self.W_key(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)
        values = self.W_value(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)

        scores = queries @ keys.transpose(2, 3)  # (B, H, T, T)
        weights = torch.softmax(scores / self.head_dim**0.5, dim=-1)
        weights = weights.masked_fill(self.mask.bool()[:T, :T], float("-inf"))
        weights = self.dropout(weights)

        context = (weights @ values).transpose(1, 2)  # (B, T, H, head_dim)
        context = context.contiguous().view(B, T, self.d_out)
        return self.out_proj(context)
