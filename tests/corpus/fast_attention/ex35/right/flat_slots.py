# right: one list of all slots, and the number of each word in it
def paged_attention(query, key_pages, value_pages, page_table, lengths):
    B, H, d = query.shape
    P, size = key_pages.shape[:2]
    flat_k, flat_v = key_pages.reshape(P * size, H, d), value_pages.reshape(P * size, H, d)
    longest = int(lengths.max())
    i = torch.arange(longest, device=query.device)
    slots = (page_table[:, i // size] * size + i % size).clamp(min=0)
    k, v = flat_k.index_select(0, slots.reshape(-1)), flat_v.index_select(0, slots.reshape(-1))
    k, v = k.reshape(B, longest, H, d), v.reshape(B, longest, H, d)
    s = (k * query[:, None]).sum(-1) * d**-0.5
    s = torch.where((i < lengths[:, None])[..., None], s, torch.finfo(s.dtype).min)
    return (s.softmax(1)[..., None] * v).sum(1)
