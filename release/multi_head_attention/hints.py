# The hints of the notebook. hint(n) shows those for exercise n, one at a time.

HINTS = {
    17: ('exercise-17', [
        'There are two things to do. In `__init__`, make `num_heads` heads, each with its own weights, and keep them where PyTorch finds them. In `forward`, give each head the same `x`, collect what they return, and put the results side by side.',
        '`nn.ModuleList([... for _ in range(num_heads)])` makes a new head on every pass. Beware of `[head] * num_heads`: that is the same head several times, with one set of weights.',
        '[`torch.cat`](https://docs.pytorch.org/docs/stable/generated/torch.cat.html) takes a list of tensors and the axis along which to join them. The entries of a vector are on the last axis, `dim=-1`. Loop over `self.heads` like any list, and call each head: `head(x)`. So the list is `[… for head in self.heads]`.',
    ]),
    18: ('exercise-18', [
        'The table of shapes is the plan: each of its rows is one or two lines of code. Take one sentence, two heads and small numbers, and write the shape after each line as a comment. As long as every shape agrees with the table, and every change of shape is the one that the table names, you are on the right track.',
        'In `__init__`: `d_out % num_heads` is the remainder; `raise ValueError("…")` if it is not 0. `d_out // num_heads` is a whole number, `d_out / num_heads` is not, and `view` wants whole numbers.\n\nThe mask and the dropout come from your exercise 16; one of each serves all heads. A mask of shape $(T, T)$ broadcasts to scores of shape $(B, H, T, T)$.',
        'In `forward`, first name the sizes: `x.shape` has three of them. Cut the last axis with [`view`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html) to $(B, T, H, d)$. There the tokens are axis 1 and the heads axis 2, and [`transpose`](https://docs.pytorch.org/docs/stable/generated/torch.transpose.html) swaps them. Do the same for queries, keys and values.\n\nFor the scores, swap the last two axes of the keys, `keys.transpose(2, 3)`, and check that you get $(B, H, T, T)$. Divide by the root of `head_dim`, and use only the first $T$ rows and columns of the mask.',
        'The way back: `weights @ …` is $(B, H, T, d)$. Swap axes 1 and 2 again, then `.contiguous().view(B, T, …)`, or `.reshape(…)`, which copies if it must. The last axis is `d_out` again, and `self.out_proj(…)` is the last step.',
    ]),
    19: ('exercise-19', [
        'This is exercise 18 with two sequences instead of one, and without dropout. Three inputs go through three layers, and each result is cut into heads. From there on, each head is plain attention, with $T$ queries and $S$ keys. Write down the shapes with $T = 4$ and $S = 6$ before you write code: then a mix-up causes an error.',
        'Project first, then cut: `self.keys(keys).reshape(N, S, heads, head_dim)`. Keys and values have length $S$, queries have length $T$; take each from its own shape.',
        'The scores are the einsum from the text above, divided by $\\sqrt d$. [`scores.masked_fill(mask == 0, float("-inf"))`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill.html) hides what must not be seen. Do it only if there is a mask. In `nhqk` the keys are the last axis, and the weights of one query sum to one over its keys.',
        'The second einsum: weights `nhqk` and values `nkhd` go in. The sum runs over `k`, since every output is a weighted sum over the keys. A vector of `d` entries stays for every sentence, query and head. If you let them come out in the order `nqhd`, the heads are already next to their entries, and one `reshape` to $(N, T, E)$ puts them side by side, ready for `fc_out`.',
    ]),
}
