# wrong: all words are in slot 0
# named: first slot of each page
def paged_attention(query, key_pages, value_pages, page_table, lengths):
    B, H, d = query.shape
    page_size = key_pages.shape[1]
    outputs = []
    for b in range(B):
        places = torch.arange(int(lengths[b]))
        pages = page_table[b, places // page_size]
        keys, values = key_pages[pages, 0], value_pages[pages, 0]
        weights = torch.softmax(torch.einsum("hd,shd->hs", query[b], keys) / math.sqrt(d), dim=-1)
        outputs.append(torch.einsum("hs,shd->hd", weights, values))
    return torch.stack(outputs)
