# right: nn.Buffer for the mask, nn.Softmax as a layer, head_dim as a property
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        assert isinstance(num_heads, int) and d_out % num_heads == 0
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.softmax = nn.Softmax(dim=-1)
        self.dropout = nn.Dropout(p=dropout)
        self.out_proj = nn.Linear(in_features=d_out, out_features=d_out, bias=True)
        self.mask = nn.Buffer(torch.triu(torch.ones(context_length, context_length), diagonal=1).to(torch.bool))

    @property
    def head_dim(self):
        return self.out_proj.in_features // self.num_heads

    def forward(self, x):
        batch_size, num_tokens = x.shape[:2]
        shape = (batch_size, num_tokens, self.num_heads, self.head_dim)
        keys = torch.swapaxes(self.W_key(x).view(shape), 1, 2)
        queries = torch.swapaxes(self.W_query(x).view(shape), 1, 2)
        values = torch.swapaxes(self.W_value(x).view(shape), 1, 2)
        scores = queries @ torch.swapaxes(keys, 2, 3)
        scores.masked_fill_(self.mask[:num_tokens, :num_tokens], -torch.inf)
        weights = self.dropout(self.softmax(scores / keys.shape[-1] ** 0.5))
        out = torch.swapaxes(weights @ values, 1, 2)
        return self.out_proj(out.reshape(*out.shape[:2], -1))
