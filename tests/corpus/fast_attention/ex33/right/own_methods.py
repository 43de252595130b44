# right: a method of its own called softmax_backward, and inference_mode by habit
class Softmax:
    @staticmethod
    def softmax_backward(p, dp):
        return p * (dp - (p * dp).sum(-1, keepdim=True))

@torch.inference_mode()
def attention_backward(queries, keys, values, grad_output):
    root = queries.shape[-1] ** 0.5
    p = torch.softmax(queries @ keys.mT / root, -1)
    ds = Softmax.softmax_backward(p, grad_output @ values.mT) / root
    return ds @ keys, ds.mT @ queries, p.mT @ grad_output
