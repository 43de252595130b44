# right: torch.baddbmm with a mask of the dtype's minimum, leading axis in the buffer
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.attn_drop = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(1, context_length, context_length).triu(1))

    def forward(self, x):
        _, T, _ = x.shape
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        bias = (self.mask[:, :T, :T] * torch.finfo(q.dtype).min).to(q.dtype)
        scores = torch.baddbmm(bias, q, k.mT, beta=1, alpha=1 / math.sqrt(k.shape[-1]))
        return torch.bmm(self.attn_drop(F.softmax(scores, dim=-1)), v)
