# wrong: all slots of the pages, and no scaling
# named: lengths without effect + not scaled
def paged_attention(query, key_pages, value_pages, page_table, lengths):
    B, H, d = query.shape
    page_size = key_pages.shape[1]
    outputs = []
    for b in range(B):
        length = int(lengths[b])
        count = (length + page_size - 1) // page_size
        pages = page_table[b, :count]
        keys = key_pages[pages].reshape(-1, H, d)
        values = value_pages[pages].reshape(-1, H, d)
        scores = torch.einsum("hd,shd->hs", query[b], keys)
        weights = torch.softmax(scores, dim=-1)
        outputs.append(torch.einsum("hs,shd->hd", weights, values))
    return torch.stack(outputs)
