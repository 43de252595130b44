# right: own softmax over masked exponentials
class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length)))

    def weights(self, scores):
        T = scores.shape[-1]
        visible = self.mask[:T, :T]
        lowest = scores.masked_fill(visible == 0, -torch.inf)
        e = torch.exp(lowest - lowest.amax(dim=-1, keepdim=True).detach())
        return e / e.sum(dim=-1, keepdim=True)

    def forward(self, x):
        d_k = self.W_key.out_features
        scores = self.W_query(x) @ self.W_key(x).mT * d_k**-0.5
        return self.dropout(self.weights(scores)) @ self.W_value(x)
