# wrong: F.scaled_dot_product_attention is called with queries, values, keys
# named: keys and values exchanged
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super(CausalAttention, self).__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout_p = dropout
        self.register_buffer("mask", torch.ones(context_length, context_length).tril().bool())

    def forward(self, x):
        T = x.shape[1]
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        return F.scaled_dot_product_attention(
            queries,
            values,
            keys,
            attn_mask=self.mask[:T, :T],
            dropout_p=self.dropout_p if self.training else 0.0,
        )
