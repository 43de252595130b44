# wrong: −1 is made 0, and nothing is masked
# named: lengths without effect, −1 taken for page 0
def paged_attention(query, key_pages, value_pages, page_table, lengths):
    B, H, d = query.shape
    P, page_size = key_pages.shape[:2]
    M = page_table.shape[1]
    table = page_table.clamp(min=0)
    k = key_pages[table].reshape(B, M * page_size, H, d).permute(0, 2, 1, 3)
    v = value_pages[table].reshape(B, M * page_size, H, d).permute(0, 2, 1, 3)
    mask = torch.arange(M * page_size, device=query.device)[None, :] < lengths[:, None]
    out = F.scaled_dot_product_attention(query[:, :, None], k, v)
    return out[:, :, 0]
