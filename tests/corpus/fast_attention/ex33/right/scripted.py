# right: a helper in TorchScript
from typing import Tuple


@torch.jit.script
def _way_back(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    scale = float(q.size(-1)) ** -0.5
    p = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * scale, dim=-1)
    dp = torch.matmul(g, v.transpose(-2, -1))
    ds = p * (dp - (p * dp).sum(dim=-1, keepdim=True)) * scale
    return torch.matmul(ds, k), torch.matmul(ds.transpose(-2, -1), q), torch.matmul(p.transpose(-2, -1), g)


def attention_backward(queries, keys, values, grad_output):
    return _way_back(queries, keys, values, grad_output)
