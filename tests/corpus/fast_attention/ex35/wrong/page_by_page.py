# wrong: a softmax for each page, and the outputs of the pages added up
# named: softmax of each page
def paged_attention(query, key_pages, value_pages, page_table, lengths):
    B, H, d = query.shape
    size = key_pages.shape[1]
    rows = []
    for b in range(B):
        output = torch.zeros(H, d, dtype=query.dtype)
        for place in range(0, int(lengths[b]), size):
            page = page_table[b, place // size]
            count = min(size, int(lengths[b]) - place)
            scores = torch.einsum("hd,shd->hs", query[b], key_pages[page, :count]) / math.sqrt(d)
            output = output + torch.einsum("hs,shd->hd", scores.softmax(-1), value_pages[page, :count])
        rows.append(output)
    return torch.stack(rows)
