# wrong: each word looks only at itself and the words before it
# named: future hidden
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        out = []
        for i in range(x.shape[0]):
            scores = keys[:i + 1] @ queries[i]
            weights = torch.softmax(scores / math.sqrt(queries.shape[1]), dim=0)
            out.append(weights @ values[:i + 1])
        return torch.stack(out)
