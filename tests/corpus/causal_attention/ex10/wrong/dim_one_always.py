# wrong: always dim=1, an IndexError for a vector
# named: always the second dimension
def softmax_stable(x, dim=-1):
    return F.softmax(x, dim=1)
