# wrong: buffer first, layers in another order, a uint8 mask that is not saved
# named: mask is not saved
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        nn.Module.__init__(self)
        mask = torch.ones(context_length, context_length, dtype=torch.uint8).triu(diagonal=1)
        self.register_buffer("mask", mask, persistent=False)
        self.drop = nn.Dropout(p=dropout)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.scale = d_out**0.5

    def forward(self, x):
        T = x.size(-2)
        scores = torch.matmul(self.W_query(x), self.W_key(x).transpose(-2, -1)) / self.scale
        scores = scores.masked_fill(self.mask[:T, :T] == 1, float("-inf"))
        return torch.matmul(self.drop(scores.softmax(-1)), self.W_value(x))
