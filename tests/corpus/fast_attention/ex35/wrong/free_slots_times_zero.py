# wrong: keys and values of free slots are multiplied by 0, and nothing is hidden
# named: free slots set to zero
def paged_attention(query, key_pages, value_pages, page_table, lengths):
    B, H, d = query.shape
    table = page_table.clamp(min=0)
    keys = key_pages[table].flatten(1, 2)
    values = value_pages[table].flatten(1, 2)
    used = torch.arange(keys.shape[1], device=query.device)[None] < lengths[:, None]
    keys = keys * used[:, :, None, None]
    values = values * used[:, :, None, None]
    scores = torch.einsum("bhd,bshd->bhs", query, keys) / math.sqrt(d)
    return torch.einsum("bhs,bshd->bhd", scores.softmax(dim=-1), values)
