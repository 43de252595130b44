# right: softmax as a module without parameters, unused extra arguments by keyword
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False, device=None):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias, device=device)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias, device=device)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias, device=device)
        self.softmax = nn.Softmax(dim=-1)
        self.scale = 1 / math.sqrt(d_out)

    def forward(self, x, verbose=False):
        weights = self.softmax(self.W_query(x) * self.scale @ self.W_key(x).T)
        if verbose:
            print(weights)
        return weights @ self.W_value(x)
