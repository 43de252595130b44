# what: the key's line was copied from the query's and its bias not renamed
# pattern: copied-line
# causes: 1
# true:
# says: b_q|bias of the (keys|queries)
# false: W_q and b_q, like the queries|[Nn]o bias|leave out|one bias|b_q for queries, keys and values|is missing
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = []
    all_keys = []
    all_values = []
    for x in all_x:
        all_queries.append(b_q + W_q @ x)
        all_keys.append(b_q + W_k @ x)  # <-
        all_values.append(b_v + W_v @ x)
    return all_queries, all_keys, all_values
