# right: one F.linear, weights and biases concatenated from the three
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.qkv_bias = qkv_bias
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def layers(self):
        return [self.W_query, self.W_key, self.W_value]

    def forward(self, x):
        weight = torch.cat([layer.weight for layer in self.layers()])
        bias = torch.cat([layer.bias for layer in self.layers()]) if self.qkv_bias else None
        q, k, v = F.linear(x, weight, bias).tensor_split(3, dim=-1)
        return torch.softmax(q @ k.mT / math.sqrt(k.shape[-1]), -1) @ v
