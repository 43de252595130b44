# right: exponentials of what is seen, over their sum or one
def padded_attention(queries, keys, values, lengths, causal=False):
    B, H, T, d = queries.shape
    S = keys.shape[2]
    mask = torch.zeros(B, 1, T, S, dtype=torch.bool, device=queries.device)
    for b in range(B):
        mask[b, :, :, : int(lengths[b])] = True
    if causal:
        mask = torch.tril(mask)
    scores = queries @ keys.mT / math.sqrt(d)
    largest = scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True)
    largest = torch.where(largest.isinf(), torch.zeros_like(largest), largest).detach()
    e = torch.where(mask, scores - largest, torch.full_like(scores, -torch.inf)).exp()
    total = e.sum(-1, keepdim=True)
    return (e / torch.where(total == 0, torch.ones_like(total), total)) @ values
