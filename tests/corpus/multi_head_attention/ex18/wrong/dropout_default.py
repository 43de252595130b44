# wrong: nn.Dropout() without the argument
# named: dropout of 0
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super(MultiHeadAttention, self).__init__()
        if d_out % num_heads != 0:
            raise ValueError(f"{d_out} features cannot be split into {num_heads} heads")
        self.n_head = num_heads
        # keys, queries, values for all heads
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.attn_drop = nn.Dropout()
        self.out_proj = nn.Linear(d_out, d_out)
        tril = torch.tril(torch.ones(context_length, context_length))
        self.register_buffer("mask", tril.view(1, 1, context_length, context_length))

    def forward(self, x):
        b, t, _ = x.size()
        k = self.W_key(x)
        q = self.W_query(x)
        v = self.W_value(x)
        c = q.size(-1)
        hs = c // self.n_head
        k = k.view(b, t, self.n_head, hs).transpose(1, 2)  # (b, nh, t, hs)
        q = q.view(b, t, self.n_head, hs).transpose(1, 2)
        v = v.view(b, t, self.n_head, hs).transpose(1, 2)

        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(hs))
        att = att.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        att = self.attn_drop(att)
        y = att @ v  # (b, nh, t, hs)
        y = y.transpose(1, 2).contiguous().view(b, t, c)
        return self.out_proj(y)
