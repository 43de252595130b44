# right: scalars as (1, 1) tensors, straight from q.T @ k
def attention_scores(all_queries, all_keys):
    scaling = torch.sqrt(torch.tensor(all_keys[0].shape[0]))
    result = []
    for i in range(len(all_queries)):
        scores_i = []
        for j in range(len(all_keys)):
            scores_i.append(torch.matmul(all_queries[i].T, all_keys[j]) / scaling)
        result.append(scores_i)
    return result
