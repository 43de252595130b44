# wrong: pages reshaped with the heads first
# named: words and heads mixed up
def paged_attention(query, key_pages, value_pages, page_table, lengths):
    B, H, d = query.shape
    k = key_pages[page_table].reshape(B, H, -1, d)     # (B, H, M * page_size, d)
    v = value_pages[page_table].reshape(B, H, -1, d)
    s = (query.unsqueeze(2) @ k.mT).squeeze(2) / math.sqrt(d)
    places = torch.arange(s.shape[-1], device=s.device)
    s = s.masked_fill(places >= lengths[:, None, None], -math.inf)
    return (s.softmax(-1).unsqueeze(2) @ v).squeeze(2)
