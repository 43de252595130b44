# right: every word is looked up by itself
def paged_attention(query, key_pages, value_pages, page_table, lengths):
    out = torch.zeros_like(query)
    size = key_pages.size(1)
    for b, length in enumerate(lengths.tolist()):
        keys = torch.stack([key_pages[page_table[b, i // size], i % size] for i in range(length)])
        values = torch.stack([value_pages[page_table[b, i // size], i % size] for i in range(length)])
        for h in range(query.size(1)):
            w = torch.softmax(keys[:, h] @ query[b, h] / query.size(2) ** 0.5, dim=0)
            out[b, h] = w @ values[:, h]
    return out
