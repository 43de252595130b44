# what: a plus in a line of its own: the key's bias is computed and lost
# pattern: lost-result
# causes: 1
# true:
# says: throws? .*away|key \+ b_k
# false:
# follows: keys without bias
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = []
    all_keys = []
    all_values = []
    for x in all_x:
        query = W_q @ x + b_q
        key = W_k @ x
        key + b_k  # <-
        value = W_v @ x + b_v
        all_queries += [query]
        all_keys += [key]
        all_values += [value]
    return all_queries, all_keys, all_values
