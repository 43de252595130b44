# wrong: a running maximum that begins with 0, where scores may be far below
# named: nothing
def paged_attention(query, key_pages, value_pages, page_table, lengths):
    B, H, d = query.shape
    size = key_pages.size(1)
    rows = []
    for b in range(B):
        m = torch.full((H, 1), 0.0, dtype=query.dtype, device=query.device)
        l = torch.zeros_like(m)
        o = torch.zeros_like(query[b])
        left = int(lengths[b])
        for page in page_table[b].tolist():
            if left <= 0:
                break
            n = min(left, size)
            s = (key_pages[page, :n] * query[b]).sum(-1).T / math.sqrt(d)
            new = torch.maximum(m, s.amax(1, keepdim=True))
            p = torch.exp(s - new)
            f = torch.exp(m - new)
            l = f * l + p.sum(1, keepdim=True)
            o = f * o + torch.einsum("hn,nhd->hd", p, value_pages[page, :n])
            m = new
            left -= n
        rows.append(o / l)
    return torch.stack(rows)
