# wrong: V is divided by the root, not the scores
# named: scaled in the wrong place
class SelfAttention_v1(torch.nn.Module):
    def __init__(self, d_in, d_out):
        super(SelfAttention_v1, self).__init__()
        self.d_out = d_out
        self.W_query = torch.nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = torch.nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = torch.nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        Q, K, V = x @ self.W_query, x @ self.W_key, x @ self.W_value
        A = F.softmax(Q @ K.T, dim=1)
        return A @ V / math.sqrt(self.d_out)
