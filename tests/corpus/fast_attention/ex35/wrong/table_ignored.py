# wrong: each sentence has the first pages
# named: page table without effect
def paged_attention(query, key_pages, value_pages, page_table, lengths):
    B, H, d = query.shape
    page_size = key_pages.shape[1]
    outputs = []
    for b in range(B):
        length = int(lengths[b])
        count = (length + page_size - 1) // page_size
        pages = torch.arange(count, device=query.device)
        keys = key_pages[pages].reshape(-1, H, d)[:length]
        values = value_pages[pages].reshape(-1, H, d)[:length]
        scores = torch.einsum("hd,shd->hs", query[b], keys) / math.sqrt(d)
        weights = torch.softmax(scores, dim=-1)
        outputs.append(torch.einsum("hs,shd->hd", weights, values))
    return torch.stack(outputs)
