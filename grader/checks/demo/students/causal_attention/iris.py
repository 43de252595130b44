# Drops where nothing is to be dropped, and rounds.
def simple_attention_scores(inputs, query):
    return torch.round(inputs @ query, decimals=2)


def inverted_dropout(attn_weights, p, training):
    mask = (torch.rand_like(attn_weights) >= p).float()
    return attn_weights * mask / (1 - p)


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = torch.rand(d_in, d_out)
        self.W_key = torch.rand(d_in, d_out)
        self.W_value = torch.rand(d_in, d_out)

    def forward(self, x):
        keys = x @ self.W_key
        queries = x @ self.W_query
        values = x @ self.W_value
        weights = torch.softmax(queries @ keys.T / keys.shape[-1] ** 0.5, dim=-1)
        return weights @ values
