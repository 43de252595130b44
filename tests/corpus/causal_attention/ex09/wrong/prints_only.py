# wrong: prints the scores and returns None
# named: nothing
def simple_attention_scores(inputs, query):
    attn_scores = inputs @ query
    print(attn_scores)
