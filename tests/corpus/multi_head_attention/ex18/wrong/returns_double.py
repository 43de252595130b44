# wrong: the last line makes the result double
# named: float64 returned
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads:
            raise ValueError("d_out must be a multiple of num_heads")
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1).bool())

    def heads_of(self, y):
        batch, words, width = y.shape
        return y.reshape(batch, words, self.num_heads, self.head_dim).permute(0, 2, 1, 3)

    def forward(self, x):
        batch, words, width = x.shape
        queries = self.heads_of(self.W_query(x))
        keys = self.heads_of(self.W_key(x))
        values = self.heads_of(self.W_value(x))
        scores = queries @ keys.transpose(-1, -2) / math.sqrt(self.head_dim)
        scores = scores.masked_fill(self.mask[:words, :words], float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        outputs = self.dropout(weights) @ values
        return self.out_proj(outputs.transpose(1, 2).reshape(batch, words, -1)).double()
