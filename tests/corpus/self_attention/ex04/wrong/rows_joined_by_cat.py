# wrong: the rows are joined with torch.cat into one long vector
# named: one flat list
def attention_weights(all_attention_scores):
    rows = []
    for scores in all_attention_scores:
        rows.append(softmax(scores))
    return torch.cat(rows)
