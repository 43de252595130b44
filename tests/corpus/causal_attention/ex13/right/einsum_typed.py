# right: einsum on the weights, bias added by hand, type hints
class SelfAttention_v2(nn.Module):
    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False) -> None:
        super().__init__()
        self.W_query: nn.Linear = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key: nn.Linear = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value: nn.Linear = nn.Linear(d_in, d_out, bias=qkv_bias)

    @staticmethod
    def project(layer: nn.Linear, x: torch.Tensor) -> torch.Tensor:
        y = torch.einsum("ti,oi->to", x, layer.weight)
        return y if layer.bias is None else y + layer.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (self.project(layer, x) for layer in (self.W_query, self.W_key, self.W_value))
        w = (torch.einsum("qo,ko->qk", q, k) / k.size(1) ** 0.5).softmax(-1)
        return torch.einsum("qk,ko->qo", w, v)
