# wrong: the keys are made by W_query, too
# named: queries as keys
class SelfAttention_v2(torch.nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super(SelfAttention_v2, self).__init__()
        self.W_query = torch.nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = torch.nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = torch.nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        queries = self.W_query(x)
        keys = self.W_query(x)
        values = self.W_value(x)
        d_k = keys.shape[-1]
        scores = torch.matmul(queries, keys.T) / math.sqrt(d_k)
        return torch.matmul(torch.softmax(scores, dim=-1), values)
