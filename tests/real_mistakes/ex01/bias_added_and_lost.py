# what: add returns the sum, which is thrown away
# pattern: lost-result
# causes: 1
# true:
# says: throws? (it|them|.*) away|lost
# false: leave out the bias
# follows: without bias
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries, all_keys, all_values = [], [], []
    for x in all_x:
        query = torch.mm(W_q, x)
        query.add(b_q)  # <-
        key = torch.mm(W_k, x)
        key.add(b_k)  # <-
        value = torch.mm(W_v, x)
        value.add(b_v)  # <-
        all_queries.append(query)
        all_keys.append(key)
        all_values.append(value)
    return all_queries, all_keys, all_values
