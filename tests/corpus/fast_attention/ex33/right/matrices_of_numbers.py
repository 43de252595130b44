# right: a small matrix class with operators of its own
class Matrix:
    def __init__(self, rows):
        self.rows = rows

    def __matmul__(self, other):
        return Matrix(self.rows @ other.rows)

    def __mul__(self, other):
        return Matrix(self.rows * getattr(other, "rows", other))

    __rmul__ = __mul__

    def __sub__(self, other):
        return Matrix(self.rows - other.rows)

    @property
    def T(self):
        return Matrix(self.rows.transpose(-2, -1))

    def softmax(self):
        e = (self.rows - self.rows.max(dim=-1, keepdim=True).values).exp()
        return Matrix(e.true_divide(e.sum(-1).unsqueeze(-1)))

    def row_sums(self):
        return Matrix(self.rows.sum(-1, keepdim=True))


def attention_backward(queries, keys, values, grad_output):
    Q, K, V, dO = map(Matrix, (queries, keys, values, grad_output))
    scale = pow(queries.shape[3], -0.5)
    P = (scale * (Q @ K.T)).softmax()
    dP = dO @ V.T
    dS = P * (dP - (P * dP).row_sums()) * scale
    return [one.rows for one in (dS @ K, dS.T @ Q, P.T @ dO)]
