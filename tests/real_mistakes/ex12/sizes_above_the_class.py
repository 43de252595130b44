# what: sizes of the notebook's data are set above the class and used in it
# pattern: notebook-variables
# causes: 1
# true: divided by √2 | the notebook's variables
# says: from the notebook|`d_out`
# false:
d_in = inputs.shape[1]
d_out = 2  # <-


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = torch.nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = torch.nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = torch.nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        keys = x @ self.W_key
        queries = x @ self.W_query
        values = x @ self.W_value
        omega = queries @ keys.T
        alpha = torch.softmax(omega / math.sqrt(d_out), dim=1)  # <-
        return alpha @ values
