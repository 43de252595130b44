# right: layers in another order, if for the bias
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        if qkv_bias:
            self.W_key = nn.Linear(d_in, d_out)
            self.W_value = nn.Linear(d_in, d_out)
            self.W_query = nn.Linear(d_in, d_out)
        else:
            self.W_key = nn.Linear(d_in, d_out, bias=False)
            self.W_value = nn.Linear(d_in, d_out, bias=False)
            self.W_query = nn.Linear(d_in, d_out, bias=False)

    def forward(self, x):
        scores = self.W_query(x) @ self.W_key(x).T
        d_k = self.W_key.out_features
        return nn.functional.softmax(scores * d_k**-0.5, dim=-1) @ self.W_value(x)
