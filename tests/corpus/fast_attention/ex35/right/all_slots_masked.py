# right: every slot of every page, with a mask of those that belong to a sentence
def paged_attention(query, key_pages, value_pages, page_table, lengths):
    B, (P, size) = len(query), key_pages.shape[:2]
    own = torch.zeros(B, P, size, dtype=torch.bool, device=query.device)
    for b in range(B):
        for i in range(int(lengths[b])):
            own[b, page_table[b, i // size], i % size] = True
    scores = torch.einsum("bhd,pshd->bhps", query, key_pages) / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(~own[:, None], -math.inf).flatten(2)
    weights = scores.softmax(-1).unflatten(-1, (P, size))
    return torch.einsum("bhps,pshd->bhd", weights, value_pages)
