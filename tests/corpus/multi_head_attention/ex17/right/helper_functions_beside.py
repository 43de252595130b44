# right: helper functions outside the class, positional arguments packed
def make_heads(n, *args):
    return nn.ModuleList(CausalAttention(*args) for _ in range(n))


def concatenate(tensors):
    first, *rest = tensors
    if not rest:
        return first
    return torch.cat((first, concatenate(rest)), dim=first.dim() - 1)


class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = make_heads(num_heads, d_in, d_out, context_length, dropout, qkv_bias)

    def forward(self, x):
        return concatenate([head(x) for head in self.heads])
