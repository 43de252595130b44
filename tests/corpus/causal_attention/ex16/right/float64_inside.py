# right: float64 inside, cast back, returned as a view
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.W_query(x).double(), self.W_key(x).double(), self.W_value(x).double()
        s = q @ k.transpose(1, 2) / k.shape[2] ** 0.5
        s = s.masked_fill(self.mask[:T, :T] > 0, -torch.inf)
        out = self.dropout(torch.softmax(s, dim=2)) @ v
        return out.to(x.dtype).transpose(1, 2).contiguous().transpose(1, 2)
