# what: W_key made twice, W_value not
# pattern: copied-line
# causes: 1
# true:
# says: W_value
# false: keys as values|weigh the keys
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)  # <-

    def forward(self, x):
        q = self.W_query(x)
        k = self.W_key(x)
        v = self.W_value(x)
        # scores between all words
        scores = torch.matmul(q, k.transpose(-2, -1))
        d_k = k.size(-1)
        scaled_scores = scores / math.sqrt(d_k)
        weights = F.softmax(scaled_scores, dim=-1)
        output = torch.matmul(weights, v)
        return output
