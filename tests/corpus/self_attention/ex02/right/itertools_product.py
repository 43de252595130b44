# right: itertools.product and reshaping the flat list
import itertools


def attention_scores(all_queries, all_keys):
    n = len(all_keys)
    flat = [torch.mm(q.t(), k)[0, 0] * (1 / math.sqrt(k.shape[0])) for q, k in itertools.product(all_queries, all_keys)]
    return [flat[i : i + n] for i in range(0, len(flat), n)]
