# wrong: one query, that of x[0], as in the text that computes a single context vector
# named: first word only
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        query = self.W_query(x[0])
        keys = self.W_key(x)
        values = self.W_value(x)
        attn_scores = query @ keys.T
        d_k = keys.shape[1]
        attn_weights = torch.softmax(attn_scores / d_k**0.5, dim=-1)
        return attn_weights @ values
