# wrong: SyntaxError, a parenthesis is never closed
# named: nothing
def attention_scores(all_queries, all_keys):
    return [[(torch.dot(q.flatten(), k.flatten()) / math.sqrt(len(q)) for k in all_keys] for q in all_queries]
