# wrong: the causal mask is for texts of up to 64 words
# named: nothing
SEEN = torch.ones(64, 64).tril() == 1


def padded_attention(queries, keys, values, lengths, causal=False):
    T, S = queries.shape[2], keys.shape[2]
    seen = (torch.arange(S, device=keys.device) < lengths[:, None])[:, None, None]
    if causal:
        seen = seen & SEEN[:T, :S].to(keys.device)
    none = ~seen.any(-1, keepdim=True)
    scores = (queries @ keys.mT / queries.shape[-1] ** 0.5).masked_fill(~seen & ~none, float("-inf"))
    return torch.softmax(scores, -1).masked_fill(none, 0.0) @ values
