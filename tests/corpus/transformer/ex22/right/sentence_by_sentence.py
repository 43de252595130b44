# right: one sentence after the other, cut to its length
def padded_attention(queries, keys, values, lengths, causal=False):
    outputs = []
    for q, k, v, n in zip(queries, keys, values, lengths.tolist()):
        if n == 0:
            outputs.append(q.new_zeros(*q.shape[:-1], v.shape[-1]))
            continue
        scores = q @ k[:, :n].mT / math.sqrt(q.shape[-1])
        if causal:
            later = torch.arange(n, device=q.device) > torch.arange(q.shape[1], device=q.device)[:, None]
            scores = scores.masked_fill(later, float("-inf"))
        outputs.append(scores.softmax(-1) @ v[:, :n])
    return torch.stack(outputs)
