# wrong: += adds the context vectors of all words to one
# named: words summed
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.d_out = d_out
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        keys, values = x @ self.W_key, x @ self.W_value
        context = torch.zeros(self.d_out, device=x.device)
        for i in range(len(x)):
            q = x[i] @ self.W_query
            scores = torch.stack([torch.dot(q, k) for k in keys]) / math.sqrt(self.d_out)
            for w, v in zip(torch.softmax(scores, dim=0), values):
                context = context + w * v
        return context
