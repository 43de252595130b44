# right: layers that have a forward and a backward, and parameters with a grad
from dataclasses import dataclass, field


@dataclass
class Value:
    data: torch.Tensor
    grad: torch.Tensor = field(default=None)


class MatMul:
    def forward(self, a, b):
        self.a, self.b = a, b
        return a.data @ b.data

    def backward(self, dout):
        self.a.grad = dout @ self.b.data.transpose(-1, -2)
        self.b.grad = self.a.data.transpose(-1, -2) @ dout


class Softmax:
    def __init__(self, dim=-1):
        self.dim = dim
        self._out = None

    def __call__(self, x):
        self._out = torch.softmax(x, dim=self.dim)
        return self._out

    def backward(self, dout):
        return self._out * (dout - (self._out * dout).sum(self.dim, keepdim=True))


class Attention:
    def __init__(self):
        self.first, self.softmax, self.second = MatMul(), Softmax(), MatMul()

    def forward(self, q, k, v):
        self.scale = 1 / math.sqrt(q.size(-1))
        self.q, self.kt, self.v = Value(q), Value(k.transpose(-1, -2)), Value(v)
        self.weights = Value(self.softmax(self.first.forward(self.q, self.kt) * self.scale))
        return self.second.forward(self.weights, self.v)

    def backward(self, dout):
        self.second.backward(dout)
        self.first.backward(self.softmax.backward(self.weights.grad) * self.scale)
        return self.q.grad, self.kt.grad.transpose(-1, -2), self.v.grad


def attention_backward(queries, keys, values, grad_output):
    layer = Attention()
    layer.forward(queries, keys, values)
    return layer.backward(grad_output)
