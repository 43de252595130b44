# what: returns the list after the first query
# pattern: return-in-loop
# causes: 1
# true: first query's list
# says: after the first|inside the loop
# false: last query
def attention_weights(all_attention_scores):
    result = []
    for row in all_attention_scores:
        row = torch.stack(row)
        e = torch.exp(row - row.max())
        result.append(e / e.sum())
        return result  # <-
