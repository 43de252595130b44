# right: register_parameter, columns inside, transposed back
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.register_parameter("W_query", nn.Parameter(torch.rand(d_in, d_out)))
        self.register_parameter("W_key", nn.Parameter(torch.rand(d_in, d_out)))
        self.register_parameter("W_value", nn.Parameter(torch.rand(d_in, d_out)))

    def forward(self, x):
        X = x.T
        Q, K, V = self.W_query.T @ X, self.W_key.T @ X, self.W_value.T @ X
        A = torch.softmax(K.T @ Q / len(Q) ** 0.5, dim=0)
        return (V @ A).T
