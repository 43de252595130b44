# wrong: hidden by -1000, which is more than many a score
# named: nothing
def paged_attention(query, key_pages, value_pages, page_table, lengths):
    from torch.nn.utils.rnn import pad_sequence
    size = key_pages.shape[1]
    need = (lengths + size - 1) // size
    gather = lambda pages: pad_sequence([pages[row[:n]].flatten(0, 1)[:k] for row, n, k in zip(page_table, need, lengths)], batch_first=True)
    k, v = gather(key_pages), gather(value_pages)
    s = torch.einsum("bhd,bnhd->bhn", query / math.sqrt(query.shape[2]), k)
    dead = torch.arange(s.shape[2], device=s.device)[None] >= lengths[:, None]
    s = torch.where(dead[:, None], -1000.0, s)
    return torch.einsum("bhn,bnhd->bhd", torch.softmax(s, 2), v)
