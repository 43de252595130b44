# what: the next word is seen, √d_in, dropout on the scores
# pattern: three
# causes: 3
# true: next word seen | scaled by √d_in | dropout on masked scores
# says:
# false:
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.drop = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=2))  # <-

    def forward(self, x):
        T = x.shape[1]
        q = self.W_query(x)
        k = self.W_key(x)
        v = self.W_value(x)
        att = q @ k.transpose(-2, -1) / math.sqrt(x.shape[-1])  # <-
        att = att.masked_fill(self.mask[:T, :T] == 1, float("-inf"))
        w = torch.softmax(self.drop(att), dim=-1)  # <-
        return w @ v
