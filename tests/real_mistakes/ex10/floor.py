# what: // for /
# pattern: integer-division
# causes: 1
# true:
# says: //|whole|rounded
# false: hard maximum|all weight|same result whatever
def softmax_stable(x, dim=-1):
    m = x.amax(dim=dim, keepdim=True)
    e = torch.exp(x - m)
    return e // e.sum(dim=dim, keepdim=True)  # <-
