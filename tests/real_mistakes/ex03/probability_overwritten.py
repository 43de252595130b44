# what: each probability replaces the list
# pattern: overwrites
# causes: 1
# true:
# says: last|overwrit|each step
# false: sum to one|not divided
def softmax(items_in):
    exps = [torch.exp(torch.as_tensor(item)) for item in items_in]
    total = sum(exps)
    for e in exps:
        probs = e / total  # <-
    return probs
