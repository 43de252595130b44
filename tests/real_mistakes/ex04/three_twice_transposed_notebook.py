# what: softmax twice, over the queries, for the notebook's N
# pattern: three
# causes: 3
# true: softmax over queries | applied twice | the notebook's variables
# says: from the notebook
# false:
def attention_weights(all_attention_scores):
    table = torch.stack([torch.stack(row) for row in all_attention_scores])
    once = torch.softmax(table, dim=0)  # <-
    twice = torch.softmax(once, dim=0)  # <-
    return [twice[i] for i in range(N)]  # <-
