# what: returns the first word in the loop
# pattern: return-in-loop
# causes: 1
# true: first word only
# says: inside|first word|loop
# false: last word
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        k = self.W_key(x)
        q = self.W_query(x)
        v = self.W_value(x)
        att = q @ k.T
        att = torch.softmax(att / k.shape[-1] ** 0.5, dim=-1)
        for row in att:
            out = row @ v
            return out  # <-
