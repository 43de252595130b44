# right: inherits the layers from SelfAttention_v2
class CausalAttention(SelfAttention_v2):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__(d_in, d_out, qkv_bias)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), 1).bool())
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        num_tokens = x.shape[1]
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = queries @ keys.transpose(1, 2) / keys.shape[-1] ** 0.5
        weights = scores.masked_fill(self.mask[:num_tokens, :num_tokens], -torch.inf).softmax(-1)
        return self.dropout(weights) @ values
