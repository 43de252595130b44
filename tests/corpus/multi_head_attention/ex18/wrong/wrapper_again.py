# wrong: the list of heads of exercise 17, each of size head_dim, with an output projection
class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        head_dim = d_out // num_heads
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, head_dim, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )
        self.out_proj = nn.Linear(d_out, d_out)

    def forward(self, x):
        return self.out_proj(torch.cat([head(x) for head in self.heads], dim=-1))
