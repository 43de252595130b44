# right: columns as in the first assignment, transposed back, a view is returned
def all_context_vectors(inputs):
    X = inputs.T  # (d, T)
    A = torch.softmax(X.T @ X, dim=0)
    return (X @ A).T
