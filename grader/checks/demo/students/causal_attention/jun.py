# Takes the largest number for the softmax, and has not come to exercise 15.
def softmax_stable(x, dim=-1):
    biggest = x.max(dim=dim, keepdim=True).values
    hot = (x == biggest).float() + 0 * x
    return hot / hot.sum(dim=dim, keepdim=True)


def inverted_dropout(attn_weights, p, training):
    raise NotImplementedError()


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out)
        self.W_key = nn.Linear(d_in, d_out)
        self.W_value = nn.Linear(d_in, d_out)

    def forward(self, x):
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        attn_weights = torch.softmax(queries @ keys.T / keys.shape[-1] ** 0.5, dim=-1)
        return attn_weights @ values
