# A loop that never ends in exercise 35, and a name that does not exist in exercise 31.
def merge(m1, l1, o1, m2, l2, o2):
    m = torch.maximum(m1, m2)
    l = l1 * torch.exp(m1 - m) + l2 * torch.exp(m2 - m)
    return m, l, (o1 * l1 * torch.exp(m1 - n) + o2 * l2 * torch.exp(m2 - n)) / l


def paged_attention(query, key_pages, value_pages, page_table, lengths):
    outputs = []
    for q, pages, length in zip(query, page_table, lengths.tolist()):
        keys, page = [], 0
        while len(keys) < length:
            keys += key_pages[pages[page]][: length - len(keys) - 1]
        outputs.append(q)
    return torch.stack(outputs)
