# what: the diagonal hidden, not scaled, out_proj left out
# pattern: three
# causes: 3
# true: own word hidden | not scaled | out_proj missing | out_proj without effect
# says: never use|not used
# false:
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        if d_out % num_heads != 0:
            raise ValueError("d_out must be divisible by num_heads")
        self.h = num_heads
        self.dh = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.drop = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length), diagonal=-1))  # <-

    def forward(self, x):
        B, T, _ = x.shape
        q = self.W_query(x).view(B, T, self.h, self.dh).transpose(1, 2)
        k = self.W_key(x).view(B, T, self.h, self.dh).transpose(1, 2)
        v = self.W_value(x).view(B, T, self.h, self.dh).transpose(1, 2)
        att = (q @ k.transpose(-2, -1))  # <-
        att = att.masked_fill(self.mask[:T, :T] == 0, float("-inf"))
        att = self.drop(F.softmax(att, dim=-1))
        y = att @ v
        y = y.transpose(1, 2).reshape(B, T, self.h * self.dh)
        return y  # <-
