# right: a softmax in pieces over the pages, as in exercise 31
def paged_attention(query, key_pages, value_pages, page_table, lengths):
    rows = []
    for b in range(len(query)):
        left = int(lengths[b])
        m = l = o = None
        for page in page_table[b].tolist():
            if left <= 0:
                break
            n = min(left, key_pages.shape[1])
            left -= n
            s = (key_pages[page, :n] * query[b]).sum(-1) / query.shape[-1] ** 0.5  # (n, H)
            m2 = s.max(0).values
            e = torch.exp(s - m2)
            l2, o2 = e.sum(0), (e[..., None] * value_pages[page, :n]).sum(0)
            if m is None:
                m, l, o = m2, l2, o2
            else:
                new = torch.maximum(m, m2)
                a, a2 = torch.exp(m - new), torch.exp(m2 - new)
                m, l, o = new, a * l + a2 * l2, a[:, None] * o + a2[:, None] * o2
        rows.append(o / l[:, None])
    return torch.stack(rows)
