# what: scaled by the wrong power, where nothing is to be scaled
# pattern: wrong-exponent
# causes: 1
# true:
# says: 0\.05|not scaled at all|scal
# false: √d\. Here|number of dimensions
def simple_attention_scores(inputs, query):
    d = inputs.shape[-1]
    return inputs @ query / d ** 0.05  # <-
