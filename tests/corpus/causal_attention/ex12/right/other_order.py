# right: parameters are made in another order, with torch.randn
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        nn.Module.__init__(self)
        self.W_value = nn.Parameter(torch.randn(d_in, d_out))
        self.W_key = nn.Parameter(torch.randn(d_in, d_out))
        self.W_query = nn.Parameter(torch.randn(d_in, d_out))

    def forward(self, x):
        scores = torch.matmul(torch.matmul(x, self.W_query), torch.matmul(x, self.W_key).transpose(-2, -1))
        weights = nn.functional.softmax(scores / math.sqrt(self.W_key.shape[1]), dim=-1)
        return torch.matmul(weights, torch.matmul(x, self.W_value))
