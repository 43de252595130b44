# The hints of the notebook. hint(n) shows those for exercise n, one at a time.

HINTS = {
    1: ('exercise-1', [
        'All words are treated alike. So take one word after another, compute its query, its key and its value, and put each into the list for its role.',
        '[`torch.matmul`](https://docs.pytorch.org/docs/stable/generated/torch.matmul.html) multiplies matrices: `torch.matmul(W_q, x)`, or `W_q @ x` for short, is a $D \\times D$ matrix times a $D \\times 1$ column. Beware of `W_q * x`: it multiplies entry by entry.',
        'Start with three empty lists. In a loop `for x in all_x:` append one result to each, for example `queries.append(…)`: the bias plus the matrix product of this role. After the loop, `return a, b, c` returns three things.',
    ]),
    2: ('exercise-2', [
        'Every query meets every key, so there are two loops: the outer one over the queries, the inner one over the keys. Each query has its own list.',
        'The dot product of two columns: multiply entry by entry and add up with [`torch.sum`](https://docs.pytorch.org/docs/stable/generated/torch.sum.html). Or `query.T @ key`, which gives a $1 \\times 1$ matrix; `.squeeze()` makes it a plain scalar. The root comes from [`math.sqrt`](https://docs.python.org/3/library/math.html#math.sqrt).',
        '$D$ is the number of rows of a query, `all_queries[0].shape[0]`. Start a new, empty list `scores` for each query. In the inner loop, `scores.append(… / …)` adds the next one: a dot product over a root. After the inner loop, `scores` itself goes into the list that you return.',
    ]),
    3: ('exercise-3', [
        'Two steps: first $e$ to the power of each number, then each result divided by the sum of all results.',
        '[`torch.as_tensor`](https://docs.pytorch.org/docs/stable/generated/torch.as_tensor.html) turns a list into a tensor, and leaves a tensor unchanged. [`torch.exp`](https://docs.pytorch.org/docs/stable/generated/torch.exp.html) then works on all entries at once, and `.sum()` adds them up.',
        'Three short lines, without a loop: make the tensor, store `torch.exp(…)` of it in a variable, and return that divided by its own sum.',
    ]),
    4: ('exercise-4', [
        "There is nothing new to compute: each query's list of scores goes through your `softmax` by itself.",
        'One loop, or one line, that calls your `softmax` on each entry of `all_attention_scores`. If your `softmax` needs a tensor and not a list of scalars, [`torch.stack`](https://docs.pytorch.org/docs/stable/generated/torch.stack.html) turns one into the other ([`torch.tensor`](https://docs.pytorch.org/docs/stable/generated/torch.tensor.html), if your exercise 2 returns plain numbers).',
        "A list comprehension does it, with the name of one query's scores in place of each “…”: `[softmax(…) for … in all_attention_scores]`.",
    ]),
    5: ('exercise-5', [
        'Each query has its own sum. It starts at zero and takes in one value after another, each multiplied by its weight.',
        '`torch.zeros_like(all_values[0])` ([docs](https://docs.pytorch.org/docs/stable/generated/torch.zeros_like.html)) is a column of zeros of the right size. `zip(weights, all_values)` pairs each weight of a query with its value.',
        "Two loops: the outer one over the queries' weights, the inner one over the pairs, with `total = total + …` in it, and after the inner loop `total` goes into the list. If you start from `all_values[0]` itself and use `+=`, you change the values you were given, and the next query gets wrong ones.",
    ]),
    6: ('exercise-6', [
        'Everything you need is in exercises 2, 4 and 5, and you may call those functions.',
        'Three calls, each of which uses what the one before it returned: scores, weights, sums. The queries and keys go into the first, the values into the last.',
        '`scores = attention_scores(…)`, then `attention_weights(…)` of these, then `weighted_sums(…)`, which takes two things: the weights and the values. Return what it returns.',
    ]),
    7: ('exercise-7', [
        'Follow the column "words as columns" of the table from top to bottom: project, compare and scale, softmax, mix. That is seven short lines at most, and no loop.',
        '`W_q @ X` multiplies all words at once, and adding `b_q` of shape $(D, 1)$ adds it to every column: [broadcasting](https://docs.pytorch.org/docs/stable/notes/broadcasting.html). `K.T` is the transpose, `math.sqrt` the root, and `softmax_cols` is given above.',
        'Not sure about an order? Only one makes the shapes fit: $(N \\times d_k)(d_k \\times N)$ for the scores, then $(d_v \\times N)(N \\times N)$ for the output. $d_k$ is the number of rows of `K`; in this exercise all matrices are square, so it is $D$.',
        'Three lines such as `Q = … + b_q` give $Q$, $K$ and $V$. Then `… @ Q`, divided by `math.sqrt(K.shape[0])`, are the scores, and `V @ softmax_cols(…)` is what you return.',
    ]),
    8: ('exercise-8', [
        'Do for head 1 what you did in exercise 7, with its own weights and biases, and then the same for head 2. Put the two results one on top of the other. $W_c$ comes last.',
        "A small function inside your function saves you from writing a head twice. [`torch.cat`](https://docs.pytorch.org/docs/stable/generated/torch.cat.html) joins matrices: with `dim=0`, one on top of the other. For the root, use the shape of this head's keys, `K.shape[0]`: that is right for any size.",
        'The inner function, say `def one_head(…):`, takes three weights and three biases. It can use `X` from outside, and it returns values times weights, of shape $(D/H, N)$. Then call it for each head, join both with `torch.cat([…, …], dim=0)`, and multiply by `W_c` from the left.',
    ]),
}
