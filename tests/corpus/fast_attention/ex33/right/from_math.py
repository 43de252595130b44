# right: everything of math, numbers of T and d in a dict, settings that stay
from math import *

SETTINGS = {"dim": -1}
SETTINGS["keepdim"] = True


def attention_backward(queries, keys, values, grad_output):
    sizes = {name: size for name, size in zip("BHTd", queries.shape)}
    root = sqrt(sizes["d"])
    with torch.set_grad_enabled(False):
        P = torch.nn.functional.softmax(queries.matmul(keys.permute(0, 1, 3, 2)).div(root), SETTINGS["dim"])
        dP = grad_output.matmul(values.permute(0, 1, 3, 2))
        average = torch.sum(P * dP, **SETTINGS)
        dS = torch.where(P > 0, P * (dP - average), torch.zeros((), dtype=P.dtype, device=P.device)) / root
    del average
    return dS.matmul(keys).contiguous(), dS.permute(0, 1, 3, 2).matmul(queries), P.permute(0, 1, 3, 2).matmul(grad_output)
