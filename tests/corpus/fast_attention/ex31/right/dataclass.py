# right: a piece is a dataclass with a sum
from dataclasses import dataclass
@dataclass
class Piece:
    m: torch.Tensor
    l: torch.Tensor
    o: torch.Tensor
    def __add__(self, other):
        m = torch.maximum(self.m, other.m)
        base = torch.nan_to_num(m, neginf=0.0)
        a, b = self.l * (self.m - base).exp(), other.l * (other.m - base).exp()
        l = a + b
        return Piece(m, l, (a * self.o + b * other.o) / l.masked_fill(l == 0, 1))
def merge(m1, l1, o1, m2, l2, o2):
    both = Piece(m1, l1, o1) + Piece(m2, l2, o2)
    return both.m, both.l, both.o
