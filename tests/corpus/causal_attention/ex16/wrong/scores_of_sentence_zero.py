# wrong: scores[0] instead of scores[b] in the loop over the sentences
# named: first sentence's weights for all
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        B, T, d_in = x.shape
        queries = self.W_query(x)
        keys = self.W_key(x)
        values = self.W_value(x)
        scores = queries @ keys.transpose(1, 2) / keys.shape[-1] ** 0.5
        mask = self.mask[:T, :T].bool()

        out = torch.zeros_like(values)
        for b in range(B):
            weights = torch.softmax(scores[0].masked_fill(mask, -torch.inf), dim=-1)
            out[b] = self.dropout(weights) @ values[b]
        return out
