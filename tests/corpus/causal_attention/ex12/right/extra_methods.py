# right: extra methods, weights kept for plots, xavier initialisation
class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.d_in, self.d_out = d_in, d_out
        self.W_query = nn.Parameter(torch.empty(d_in, d_out))
        self.W_key = nn.Parameter(torch.empty(d_in, d_out))
        self.W_value = nn.Parameter(torch.empty(d_in, d_out))
        self.last_weights = None
        self.reset_parameters()

    def reset_parameters(self):
        for p in self.parameters():
            nn.init.xavier_uniform_(p)

    def weights(self, x):
        scores = (x @ self.W_query) @ (x @ self.W_key).T
        return torch.softmax(scores / self.d_out**0.5, dim=-1)

    def extra_repr(self):
        return f"d_in={self.d_in}, d_out={self.d_out}"

    def forward(self, x):
        attn = self.weights(x)
        self.last_weights = attn.detach()  # only for plots
        return attn @ (x @ self.W_value)
