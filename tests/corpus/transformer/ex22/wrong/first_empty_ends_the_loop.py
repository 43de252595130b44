# wrong: break for continue: the first empty sentence ends the loop, and those after it get zeros
# named: nothing
def padded_attention(queries, keys, values, lengths, causal=False):
    B, H, Tq, d = queries.shape
    out = torch.zeros(B, H, Tq, values.shape[-1])
    for b in range(B):
        n = lengths[b].item()
        if n == 0:
            break
        s = queries[b] @ keys[b, :, :n].mT / math.sqrt(d)
        if causal:
            s = s.masked_fill(torch.ones(Tq, n).triu(1).bool(), -math.inf)
        out[b] = s.softmax(-1) @ values[b, :, :n]
    return out
