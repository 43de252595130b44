# wrong: right numbers, but detach() is called on the result, so that it prints without grad_fn
# named: everything detached
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        keys = self.W_key(x)
        queries = self.W_query(x)
        values = self.W_value(x)
        rows = []
        for q in queries:
            w = torch.softmax(keys @ q / keys.shape[-1]**0.5, dim=0)
            rows.append((w[:, None] * values).sum(dim=0))
        return torch.stack(rows).detach().clone()
