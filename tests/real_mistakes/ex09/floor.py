# what: // for / in a scaling that is not asked for
# pattern: integer-division
# causes: 1
# true:
# says: //|whole|rounded
# false: ends too early
def simple_attention_scores(inputs, query):
    scores = torch.matmul(inputs, query)
    return scores // 1  # <-
