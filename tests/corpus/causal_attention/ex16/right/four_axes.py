# right: written for heads, with one head, and a (1, 1, n, n) buffer
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.attn_dropout = nn.Dropout(dropout)
        mask = torch.tril(torch.ones(context_length, context_length))
        self.register_buffer("mask", mask.view(1, 1, context_length, context_length))

    def forward(self, x):
        B, T, C = x.size()
        q = self.W_query(x).view(B, T, 1, -1).transpose(1, 2)  # (B, 1, T, hs)
        k = self.W_key(x).view(B, T, 1, -1).transpose(1, 2)
        v = self.W_value(x).view(B, T, 1, -1).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        att = self.attn_dropout(att)
        y = att @ v
        return y.transpose(1, 2).contiguous().view(B, T, -1)
