# The hints of the notebook. hint(n) shows those for exercise n, one at a time.

HINTS = {
    20: ('exercise-20', [
        'Every position and every clock has an angle. So first make a table of angles, of length × $d_\\text{model}/2$, and then put its sines and its cosines into every other column of the result.',
        '`torch.arange(length)[:, None]` ([docs](https://docs.pytorch.org/docs/stable/generated/torch.arange.html)) is a column of positions, and `torch.arange(0, d_model, 2)` is a row of all $2i$. A column divided by a row is a table: broadcasting does the rest. `.sin()` and `.cos()` work on a whole table.',
        'Begin with an empty table ([`torch.empty`](https://docs.pytorch.org/docs/stable/generated/torch.empty.html)) of the right shape. `table[:, 0::2]` are its even columns and `table[:, 1::2]` its odd ones, and you may write into them: `table[:, 0::2] = …`.',
    ]),
    21: ('exercise-21', [
        'A word has $d/2$ pairs, so it has $d/2$ angles: the same ones in every sentence and in every head. First make a table of angles, $(T, d/2)$, then turn all pairs at once.',
        '`x[..., 0::2]` is $a$ of all pairs, and `x[..., 1::2]` is $b$. The table of angles is a column of positions times a row of rates, $\\text{base}^{-2i/d}$; `torch.arange(0, d, 2)` ([docs](https://docs.pytorch.org/docs/stable/generated/torch.arange.html)) has all $2i$. Compute both in 32 bits, even if `x` has 16. Broadcasting fits $(T, d/2)$ to any axes in front.',
        'What you compute from $a$ and $b$ must go back to where it came from: `torch.stack([…, …], dim=-1)` ([docs](https://docs.pytorch.org/docs/stable/generated/torch.stack.html)) puts the two of each pair side by side, and `flatten(-2)` ([docs](https://docs.pytorch.org/docs/stable/generated/torch.flatten.html)) puts the pairs in a row. Both formulas need the old $a$ and the old $b$. At the end, convert the result to the dtype of `x`.',
    ]),
    22: ('exercise-22', [
        'Leave empty sentences for later. Then this is exercise 14 with another mask: compute the scores, hide some of them, softmax, weighted sums of the values.',
        '`torch.arange(T_k) >= lengths[:, None]` ([docs](https://docs.pytorch.org/docs/stable/generated/torch.arange.html)) is true for what is hidden, of shape $(B, T_k)$. It needs two more axes before it fits the scores, $(B, H, T_q, T_k)$. With `causal`, join it to the mask of the future: `|` is *or* for tensors of booleans.',
        'Now the empty sentences. A query sees nothing where its whole row of the mask is true: [`all`](https://docs.pytorch.org/docs/stable/generated/torch.all.html) finds such rows, along the last axis. Keep that axis, so that the result fits the scores.',
        'Give these rows scores that are not $-\\infty$: hide only what is hidden *and* not in such a row (`&` and `~`). The softmax then has a result without `nan`. Make the weights of these rows zero after the softmax, with [`masked_fill`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill.html), and only then take the weighted sums.',
    ]),
    23: ('exercise-23', [
        'In `__init__`, keep `eps` and make the weight. In `forward`, find the size of every vector: square its entries, take their mean, add $\\varepsilon$, take the root. Then divide by that.',
        '`nn.Parameter(…)` ([docs](https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html)) makes a tensor trainable. `x.float()` has 32 bits. `mean(dim=-1, keepdim=True)` ([docs](https://docs.pytorch.org/docs/stable/generated/torch.mean.html)) keeps the axis, so that you can divide by it.',
        'The result is `x.float() / … * self.weight`, where the dots are the size of each vector, $(\\dots, 1)$. Convert it to the dtype of the input only at the very end: `.to(x.dtype)`.',
    ]),
    24: ('exercise-24', [
        '`__init__` makes the six attributes, and nothing happens there. `forward` is the formula, read from the inside to the outside: first the norm, then the part, then dropout, then the sum.',
        '`nn.Linear(m, n)` ([docs](https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html)) turns vectors of $m$ entries into vectors of $n$ entries, and `nn.Dropout(p)` ([docs](https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout.html)) drops with the probability `p`. A module is called like a function: `self.norm1(x)`. `F.gelu` is a function, with nothing to make in `__init__`.',
        'Two lines in `forward`, each of the form `x = x + self.dropout(…)`. The second begins with the `x` that the first one made. Inside it, what the norm returns goes through `ff_in`, `F.gelu` and `ff_out`, in this order.',
    ]),
    25: ('exercise-25', [
        'The model: `__init__` makes the parts, with the sizes that the task names. `forward` follows the figure from the bottom to the top: vectors of tokens plus vectors of positions, one block after the other, the norm, the head.',
        'The model: `torch.arange(T, device=tokens.device)` are the positions. Their vectors are $(T, d_\\text{model})$, and broadcasting adds them to those of every text. [`nn.ModuleList`](https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html) holds the blocks; a plain list would hide their weights from the optimizer.',
        'The model: `nn.ModuleList(… for _ in range(num_layers))` makes `num_layers` blocks. A loop over `self.blocks` sends `x` through all of them: each gets what the one before it returned.',
        'The loss: which logits have a next token? All but the last: `logits[:, :-1]`. Which tokens follow another one? All but the first.',
        'The loss: `F.cross_entropy` wants a row of logits and a target for each lesson, so flatten batch and positions into one axis, in both. It takes logits, not probabilities. Its argument `ignore_index` must be a number, never `None`; the default is −100, which is not the number of any token.',
    ]),
    26: ('exercise-26', [
        'A loop of `count` rounds: ask the model about the text, or the last part of it, choose a new token for each text, and append it. Before the loop, remember the mode and switch to evaluation; after it, restore the mode.',
        '`tokens[:, -n:]` are the last $n$ tokens, or all if there are fewer. `logits[:, -1]` is what the model says comes after the last token: $(B, \\text{vocab\\_size})$. `@torch.no_grad()` above a function turns gradients off in all of it. `model.training` says which mode a model is in, and `model.train(…)` takes `True` or `False`.',
        'For `top_k`: with `logits.topk(k).values[:, -1:]`, you have the smallest logit that may stay. Anything smaller becomes $-\\infty$, as the future did in exercise 14.',
        'At temperature 0, [`argmax`](https://docs.pytorch.org/docs/stable/generated/torch.argmax.html) with its axis kept is the new token, $(B, 1)$. Otherwise, softmax the logits divided by the temperature, and `torch.multinomial` draws one for each row, $(B, 1)$ again. [`torch.cat`](https://docs.pytorch.org/docs/stable/generated/torch.cat.html) along axis 1 appends it to the text: keep all of the text there, not only the part that the model saw.',
    ]),
    27: ('exercise-27', [
        'The table is the program: six parts, in this order. Only one of them may move: gradients can be cleared anywhere before `backward`.',
        "In the order of the table: the model's [`train`](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.train), the optimizer's [`zero_grad`](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html), your `next_token_loss`, the loss's [`backward`](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html), [`nn.utils.clip_grad_norm_`](https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html), and the optimizer's [`step`](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.step.html). The gradients must be there before `clip_grad_norm_` can shorten them.",
        '`clip_grad_norm_` takes all parameters at once, `model.parameters()`, and the length. A tensor remembers how it was computed, and keeps all of that in memory. `.item()` turns the loss into a plain number, which keeps nothing. Return that number.',
    ]),
}
