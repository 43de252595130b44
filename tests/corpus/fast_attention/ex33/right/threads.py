# right: a thread for each sentence
from concurrent.futures import ThreadPoolExecutor


def of_sentence(parts):
    q, k, v, g = parts
    w = torch.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[2]), dim=2)
    gw = torch.bmm(g, v.transpose(1, 2))
    gs = (w * gw).addcmul_(w, (w * gw).sum(dim=2, keepdim=True), value=-1.0).div_(math.sqrt(q.shape[2]))
    return torch.bmm(gs, k), torch.bmm(gs.transpose(1, 2), q), torch.bmm(w.transpose(1, 2), g)


def attention_backward(queries, keys, values, grad_output):
    with ThreadPoolExecutor(max_workers=2) as pool:
        found = list(pool.map(of_sentence, zip(queries, keys, values, grad_output)))
    return tuple(torch.stack(one) for one in zip(*found))
