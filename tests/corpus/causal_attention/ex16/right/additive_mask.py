# right: the buffer is a float mask of zeros and -inf, added to the scores
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.full((context_length, context_length), float("-inf")).triu(1))

    def forward(self, x):
        T = x.shape[1]
        q = self.W_query(x) * self.W_query.out_features**-0.5
        scores = torch.einsum("bqd,bkd->bqk", q, self.W_key(x)) + self.mask[:T, :T]
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return torch.einsum("bqk,bkd->bqd", weights, self.W_value(x))
