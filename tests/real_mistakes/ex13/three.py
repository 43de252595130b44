# what: d_k, queries and keys exchanged, dim 0
# pattern: three
# causes: 3
# true: divided by d_out | queries and keys exchanged | softmax over queries | weights transposed
# says:
# false:
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        q = self.W_query(x)
        k = self.W_key(x)
        v = self.W_value(x)
        # scores between all words
        scores = torch.matmul(k, q.transpose(-2, -1))  # <-
        d_k = k.size(-1)
        scaled_scores = scores / d_k  # <-
        weights = F.softmax(scaled_scores, dim=0)  # <-
        output = torch.matmul(weights, v)
        return output
