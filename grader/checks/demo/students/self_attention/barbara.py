# Everything right, in plain loops, with numpy and float64 on the way.
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    queries, keys, values = [], [], []
    for x in all_x:
        queries.append(torch.matmul(W_q, x) + b_q)
        keys.append(torch.matmul(W_k, x) + b_k)
        values.append(torch.matmul(W_v, x) + b_v)
    return queries, keys, values


def attention_scores(all_queries, all_keys):
    rows = []
    for q in all_queries:
        row = []
        for k in all_keys:
            total = 0.0
            for i in range(len(q)):
                total += q[i].item() * k[i].item()
            row.append(total / math.sqrt(len(q)))
        rows.append(row)
    return rows


def softmax(items_in):
    numbers = [math.exp(float(x)) for x in items_in]
    return torch.tensor([x / sum(numbers) for x in numbers])


def weighted_sums(all_attention_weights, all_values):
    outputs = []
    for weights in all_attention_weights:
        total = torch.zeros(all_values[0].shape, dtype=torch.float64)
        for j in range(len(all_values)):
            total += weights[j] * all_values[j].double()
        outputs.append(total.float())
    return outputs
