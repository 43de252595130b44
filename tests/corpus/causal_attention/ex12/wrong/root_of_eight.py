# wrong: the root of 8 is hard-coded
# named: divided by √8
class SelfAttention_v1(torch.nn.Module):
    def __init__(self, d_in, d_out):
        super(SelfAttention_v1, self).__init__()
        self.d_out = d_out
        self.W_query = torch.nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = torch.nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = torch.nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        Q, K, V = x @ self.W_query, x @ self.W_key, x @ self.W_value
        S = Q @ K.T / math.sqrt(8)
        A = F.softmax(S, dim=1)
        return A @ V
