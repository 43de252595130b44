# wrong: right numbers, but the values are computed under no_grad, so W_value learns nothing
# named: values detached
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def get_values(self, x):
        # only looked up, so no gradient is needed here
        with torch.no_grad():
            return x @ self.W_value

    def forward(self, x):
        query, key = x @ self.W_query, x @ self.W_key
        weights = softmax_stable(query @ key.T / math.sqrt(key.size(1)))
        return weights @ self.get_values(x)
