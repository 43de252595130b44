# wrong: a list of three products is unpacked as queries, values, keys
# named: keys and values exchanged
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super(SelfAttention_v1, self).__init__()
        self.d_out = d_out
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        q, v, k = [torch.mm(x, w) for w in (self.W_query, self.W_key, self.W_value)]
        w = (q.mm(k.t()) / math.sqrt(self.d_out)).softmax(dim=-1)
        return w.mm(v)
