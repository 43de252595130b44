# The hints of the notebook. hint(n) shows those for exercise n, one at a time.

HINTS = {
    9: ('exercise-9', [
        'Each score is one number: multiply the entries of the word by those of the query, one by one, and add up. $T$ words give $T$ numbers. Do you need a loop, or is there an operation that does this for every row of a matrix?',
        'A loop works with [`torch.dot`](https://docs.pytorch.org/docs/stable/generated/torch.dot.html), as long as [`torch.stack`](https://docs.pytorch.org/docs/stable/generated/torch.stack.html) makes one tensor of the results. Without a loop, `@` multiplies a matrix by a vector.',
        'The loop looks like `torch.stack([torch.dot(word, …) for word in …])`. With `@`, the matrix comes first: $(T, d)$ times $(d,)$ gives $(T,)$, which is the shape you need.',
    ]),
    10: ('exercise-10', [
        'Three steps: subtract the maximum, take exponentials, divide by their sum. Both the maximum and the sum belong to *one* row (or column, as `dim` says). Every row has its own.',
        '[`x.amax`](https://docs.pytorch.org/docs/stable/generated/torch.amax.html) with `dim` is the maximum along one axis. With `keepdim=True` the axis stays, with length 1, so that the result can be subtracted from `x`, whatever its shape. [`sum`](https://docs.pytorch.org/docs/stable/generated/torch.sum.html) takes the same two arguments and needs the same care.',
        'In code: `shifted = x - x.amax(…)`, then `torch.exp(…)`, then divide that by its own `.sum(…)`, each with `dim` and `keepdim`. Write `x - …`, which makes a new tensor. `x -= …` would change the tensor you were given.',
    ]),
    11: ('exercise-11', [
        'Follow the formula from left to right: a product, a softmax, a product. On paper, write the shape under each result: $T \\times T$, $T \\times T$, $T \\times d$.',
        '`.T` (or `.mT`) is the transpose of a matrix, and `@` multiplies. For the softmax use yours or [`torch.softmax`](https://docs.pytorch.org/docs/stable/generated/torch.softmax.html). The numbers of a row compete with one another, from column to column: that is `dim=-1`.',
        'In code: `scores = inputs @ …`, then `weights = torch.softmax(…)`, then `weights @ …`. If your rows of weights do not sum to one but the columns do, the softmax runs the wrong way.',
    ]),
    12: ('exercise-12', [
        '`__init__` only makes the three matrices. `forward` goes through the formula: project (three products), compare (queries with keys), scale, softmax, mix the values. You have just followed all of it for one query; with matrices it works for all rows at once.',
        '[`nn.Parameter`](https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html) makes a parameter of a tensor: `self.W_query = nn.Parameter(torch.rand(…))`. In `forward`, `x @ self.W_query` uses it.',
        'The scores are queries times transposed keys. In `forward`, all you have is `x` and `self`, and the sizes that you need are in the shapes: $d_k$ is the last size of the keys, `keys.shape[-1]`, and `math.sqrt` takes its root.',
        '`forward` in outline: `q = x @ …`, and likewise `k` and `v`; `scores = q @ … / …`; `weights = torch.softmax(…, dim=…)`; return `weights @ …`. No `.detach()`, `.item()`, `.data` or `torch.no_grad()` in `forward`: they cut the gradient off.',
    ]),
    13: ('exercise-13', [
        'Compared with exercise 12, only two places change: what `__init__` makes, and how the first three lines of `forward` use it.',
        '[`nn.Linear`](https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html) takes the two sizes, in the order $d_{\\text{in}}$, $d_{\\text{out}}$, and an argument `bias` that is true or false. Pass on what you were given. No transpose is needed: the layer takes care of it.',
        'A linear layer is called, not multiplied: `self.W_query(x)`. It works on the last axis and leaves the others alone. After the three projections, `forward` is the same as in exercise 12.',
    ]),
    14: ('exercise-14', [
        'First way: of the weights that you get, keep those on and below the diagonal. What remains of a row no longer sums to one, so divide the row by what it does sum to. Second way: make sure that the softmax never sees a score above the diagonal. Which number gets the weight 0?',
        'For the first way, [`torch.tril`](https://docs.pytorch.org/docs/stable/generated/torch.tril.html) keeps the lower triangle with the diagonal and puts zeros above it. In the sum, `keepdim=True` gives a column that divides every row.',
        'For the second way, `torch.triu(torch.ones(T, T), diagonal=1)` has ones strictly above the diagonal. Made boolean, it is a mask for [`masked_fill`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill.html), which fills in `-torch.inf` wherever the mask is true.',
        '`causal_softmax` in outline: a mask of the size of the scores, `attn_scores.masked_fill(…)`, a division by the root of `d_k`, and a softmax over each row. Beware of multiplying: `0 * -torch.inf` is `nan`. And `masked_fill_`, with an underscore at the end, would change the scores you were given.',
    ]),
    15: ('exercise-15', [
        'Toss a coin for each entry: with probability $p$ it becomes 0, otherwise it is divided by $1-p$. Outside training, nothing happens at all: handle that case first.',
        '[`torch.rand_like`](https://docs.pytorch.org/docs/stable/generated/torch.rand_like.html) gives independent random numbers between 0 and 1, in the shape of a tensor. Each of them is below `p` with probability `p`. A comparison gives booleans, and a product treats `True` as 1 and `False` as 0.',
        'In outline: if not in training, return the weights. Otherwise, compare `torch.rand_like(…)` with `p` to see which entries survive, multiply the weights by the result, and scale the survivors as in the formula above. Draw new numbers in every call, and do not set a seed. If several rows share one draw, they are not independent.',
    ]),
    16: ('exercise-16', [
        'Start from exercise 13 and go along the figure: the same three projections, then scores, mask, softmax, dropout, and the product with the values. `__init__` gets two things more, a dropout module and the mask.',
        'In `__init__`, [`nn.Dropout`](https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout.html) takes the argument `dropout`, not a number of your own: `self.dropout = nn.Dropout(…)`. Register the mask of exercise 14 in full size, `context_length` by `context_length`, with `self.register_buffer("mask", …)`.',
        'In `forward`, `x.shape` gives the three sizes. `keys.transpose(1, 2)`, or `keys.mT` for short, swaps the last two axes. (`.T` would reverse all three axes, the batch included.) `self.mask[:T, :T]` is the corner for $T$ words, and it serves every text of the batch.',
        'In outline, after the projections: `scores = q @ …`, divided by the root of the last size of the keys; `scores.masked_fill(…, -torch.inf)` with the corner of the mask as booleans; `torch.softmax(…, dim=-1)`; `self.dropout(…)` on the result; then the product with the values.',
    ]),
}
