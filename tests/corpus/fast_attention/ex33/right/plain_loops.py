# right: lists and loops, as in C
from itertools import product


def attention_backward(queries, keys, values, grad_output):
    B, H, T, C = queries.shape
    dquery, dkey, dvalue = (torch.zeros(B, H, T, C, dtype=torch.float64).tolist() for _ in range(3))
    scale = 1.0 / math.sqrt(C)
    for b, h in product(range(B), range(H)):
        q, k, v, dout = (x[b, h].double().tolist() for x in (queries, keys, values, grad_output))
        for t in range(T):
            preatt = [scale * sum(x * y for x, y in zip(q[t], k[t2], strict=True)) for t2 in range(T)]
            maxval = float("-inf")
            for one in preatt:
                if one > maxval:
                    maxval = one
            expv = [math.exp(one - maxval) for one in preatt]
            total = math.fsum(expv)
            att = [one / total for one in expv]
            datt = [0.0] * T
            for t2 in range(T):
                for i in range(C):
                    datt[t2] += v[t2][i] * dout[t][i]
                    dvalue[b][h][t2][i] += att[t2] * dout[t][i]
            dpreatt = [0.0] * T
            for t2 in range(T):
                for t3 in range(T):
                    indicator = 1.0 if t2 == t3 else 0.0
                    dpreatt[t3] += att[t2] * (indicator - att[t3]) * datt[t2]
            for t2 in range(T):
                for i in range(C):
                    dquery[b][h][t][i] += k[t2][i] * dpreatt[t2] * scale
                    dkey[b][h][t2][i] += q[t][i] * dpreatt[t2] * scale
    return [torch.tensor(one).reshape(B, H, T, C).to(queries.dtype) for one in (dquery, dkey, dvalue)]
