# wrong: inherits from SelfAttention_v2, but qkv_bias is not handed on
# named: never biased
class CausalAttention(SelfAttention_v2):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__(d_in, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1).bool())

    def forward(self, x):
        T = x.shape[1]
        scores = self.W_query(x) @ self.W_key(x).transpose(1, 2) / self.W_key.out_features**0.5
        weights = torch.softmax(scores.masked_fill(self.mask[:T, :T], -torch.inf), dim=-1)
        return self.dropout(weights) @ self.W_value(x)
