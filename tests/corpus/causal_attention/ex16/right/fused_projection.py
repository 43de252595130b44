# right: one projection built from the three layers, dtype's minimum
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.d_out = d_out
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length)))

    def qkv(self, x):
        layers = (self.W_query, self.W_key, self.W_value)
        weight = torch.cat([layer.weight for layer in layers])
        bias = None if layers[0].bias is None else torch.cat([layer.bias for layer in layers])
        return F.linear(x, weight, bias).split(self.d_out, dim=-1)

    def forward(self, x):
        q, k, v = self.qkv(x)
        T = x.shape[1]
        scores = q @ k.mT / math.sqrt(self.d_out)
        scores = scores.masked_fill(self.mask[:T, :T] == 0, torch.finfo(scores.dtype).min)
        return self.dropout(scores.softmax(dim=-1)) @ v
