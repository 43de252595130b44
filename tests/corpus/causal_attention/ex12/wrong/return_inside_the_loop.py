# wrong: the return stands inside the loop over the words, so the first word ends it
# named: first word only
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        keys = x @ self.W_key
        values = x @ self.W_value
        root = keys.shape[-1] ** 0.5
        for word in x:
            query = word @ self.W_query
            weights = torch.softmax(keys @ query / root, dim=0)
            context = weights @ values
            return context
