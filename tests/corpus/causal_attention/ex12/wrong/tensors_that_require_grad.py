# wrong: tensors with requires_grad, which the module does not know as parameters
# named: plain tensors
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = torch.rand(d_in, d_out, requires_grad=True)
        self.W_key = torch.rand(d_in, d_out, requires_grad=True)
        self.W_value = torch.rand(d_in, d_out, requires_grad=True)

    def forward(self, x):
        scores = (x @ self.W_query) @ (x @ self.W_key).T
        weights = torch.softmax(scores / self.W_key.shape[1] ** 0.5, dim=-1)
        return weights @ (x @ self.W_value)
