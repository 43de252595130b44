# wrong: right numbers, but float64 for float32
# named: float64 returned
def simple_attention_scores(inputs, query):
    return inputs.double() @ query.double()
