# wrong: all slots count, and −1 is the last page
# named: lengths without effect, −1 taken for the last page
def paged_attention(query, key_pages, value_pages, page_table, lengths):
    B, H, d = query.shape
    M, page_size = page_table.shape[1], key_pages.shape[1]
    table = page_table
    keys = key_pages[table].reshape(B, M * page_size, H, d)
    values = value_pages[table].reshape(B, M * page_size, H, d)
    scores = torch.einsum("bhd,bshd->bhs", query, keys) / math.sqrt(d)
    free = torch.arange(M * page_size, device=query.device) >= lengths[:, None]
    scores = scores
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhs,bshd->bhd", weights, values)
