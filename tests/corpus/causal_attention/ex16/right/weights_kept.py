# right: extra methods and the last weights kept for plots
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.softmax = nn.Softmax(dim=-1)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))
        self.last_attn_weights = None

    @property
    def context_length(self):
        return self.mask.shape[-1]

    def attention(self, x):
        T = x.shape[1]
        assert T <= self.context_length, "too many words"
        scores = self.W_query(x) @ self.W_key(x).transpose(1, 2)
        scores = scores.masked_fill(self.mask.bool()[:T, :T], -torch.inf)
        return self.softmax(scores / self.W_key.out_features**0.5)

    def forward(self, x):
        weights = self.attention(x)
        self.last_attn_weights = weights.detach().cpu()
        return self.dropout(weights) @ self.W_value(x)
