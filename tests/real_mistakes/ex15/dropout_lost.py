# what: F.dropout returns a new tensor, which is lost
# pattern: lost-result
# causes: 1
# true:
# says: throws? .*away|F\.dropout
# false:
# follows: inactive in training
def inverted_dropout(attn_weights, p, training):
    if training:
        F.dropout(attn_weights, p=p, training=True)  # <-
    return attn_weights
