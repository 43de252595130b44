# right: all heads in one matrix product, the weights concatenated in forward
class MultiHeadAttentionWrapper(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads, self.d_out, self.p = num_heads, d_out, dropout
        self.heads = nn.ModuleList(
            [CausalAttention(d_in, d_out, context_length, dropout, qkv_bias) for _ in range(num_heads)]
        )

    def project(self, x, name):
        layers = [getattr(head, name) for head in self.heads]
        weight = torch.cat([layer.weight for layer in layers])
        bias = None if layers[0].bias is None else torch.cat([layer.bias for layer in layers])
        y = F.linear(x, weight, bias)  # (B, T, H * d_out)
        return y.unflatten(-1, (self.num_heads, self.d_out)).transpose(1, 2)

    def forward(self, x):
        q, k, v = (self.project(x, name) for name in ("W_query", "W_key", "W_value"))
        z = F.scaled_dot_product_attention(
            q, k, v, is_causal=True, dropout_p=self.p if self.training else 0.0
        )
        return z.transpose(1, 2).flatten(2)
