# A view where a transpose is needed.
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
        queries = self.W_query(x).view(B, self.num_heads, T, self.head_dim)
        keys = self.W_key(x).view(B, self.num_heads, T, self.head_dim)
        values = self.W_value(x).view(B, self.num_heads, T, self.head_dim)

        scores = queries @ keys.transpose(2, 3)  # (B, H, T, T)
        scores = scores.masked_fill(self.mask.bool()[:T, :T], -torch.inf)
        weights = torch.softmax(scores / self.head_dim**0.5, dim=-1)
        weights = self.dropout(weights)

        context = (weights @ values).transpose(1, 2)  # (B, T, H, head_dim)
        context = context.contiguous().view(B, T, self.d_out)
        return self.out_proj(context)


class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        if embed_size % heads != 0:
            raise ValueError("embed_size has to be a multiple of heads")
        self.heads = heads
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size, bias=False)

    def split(self, x):
        n, length, e = x.shape
        return x.view(n, self.heads, length, e // self.heads)  # (N, H, length, d)

    def forward(self, values, keys, query, mask=None):
        v = self.split(self.values(values))
        k = self.split(self.keys(keys))
        q = self.split(self.queries(query))
        d = q.shape[-1]
        scores = q @ k.transpose(-2, -1) / math.sqrt(d)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        out = weights @ v
        out = out.transpose(1, 2).contiguous().view(query.shape)
        return self.fc_out(out)
