"""A `while` loop is called endless only if it certainly is."""

from __future__ import annotations

import textwrap

import pytest

from grader.kit.endless import MOST_CHARACTERS, endless_loop

# Each is the text of a cell, whose endless loop begins in the line that ends with "# here".
ENDLESS = {
    "a counter that stays": """
        def values(all_x, W, b):
            out = []
            i = 0
            while i < len(all_x):  # here
                out.append(W @ all_x[i] + b)
            return out
        """,
    "a limit that is an argument": """
        def product(n):
            result = 1
            while n > 1:  # here
                result *= n
            return result
        """,
    "a total of products": """
        def total(weights, values):
            y, i, n = 0, 0, len(weights)
            while i < n:  # here
                y = y + weights[i] * values[i]
            return y
        """,
    "sizes, and a loop inside": """
        import torch
        def scores(X):
            T, d = X.shape
            out = torch.zeros(T, T)
            row = 0
            while row <= T - 1:  # here
                for column in range(T):
                    if column > row:
                        break
                    out[row, column] = torch.dot(X[row], X[column])
            return out
        """,
    "a list of all entries": """
        def scores(all_queries, all_keys):
            out, i = [], 0
            while i < len(all_queries):  # here
                out.append([(all_queries[i] * key).sum() for key in all_keys])
            return out
        """,
    "a list in a list": """
        def scores(all_queries, all_keys):
            i = 0
            while i < 1:  # here
                out = [[query.T @ key for key in all_keys if key is not None] for query in all_queries]
            return out
        """,
    "a tensor of a list": """
        import torch
        def scores(Q, K):
            out, i = [], 0
            while i < len(Q):  # here
                row = torch.stack([torch.dot(Q[i], K[j]) for j in range(len(K))])
                out.append(torch.softmax(row, dim=0))
            return out
        """,
    "a loop over entries": """
        def scores(all_queries, all_keys):
            out, i = [], 0
            while i < len(all_queries):  # here
                row = []
                for key in all_keys:
                    if key is None:
                        continue
                    row.append(torch.dot(all_queries[i], key))
                out.append(row)
            return out
        """,
    "a loop over numbered entries": """
        def total(weights, values):
            i = 0
            while i < len(weights):  # here
                y = 0
                for place, value in enumerate(values):
                    y = y + weights[i][place] * value
            return y
        """,
    "a loop inside in which another is left": """
        def count(rows, n):
            i = 0
            while i < n:  # here
                for row in rows:
                    for j in range(3):
                        if j > 1:
                            break
        """,
    "the wrong counter": """
        def both(x):
            i, j = 0, 0
            while i < x.shape[0]:  # here
                j = j + 1
        """,
    "a switch that nobody turns": """
        def wait(x):
            going = True
            while going and x is not None:  # here
                y = x[0].sum()
        """,
    "a loop in a loop": """
        def sums(x):
            for j in range(3):
                i = 0
                while i < j:  # here
                    print(x[i])
        """,
    "one that does nothing": """
        while True:  # here
            pass
        """,
    "only the counter's copy grows": """
        def count(n):
            i = 0
            while i != n:  # here
                k = i
        """,
    "an error that is caught outside": """
        def count(x):
            try:
                i = 0
                while i < 10:  # here
                    y = x[i]
            except IndexError:
                return 0
        """,
}

# Each may end, and most do.
RIGHT = {
    "a counter": """
        def f(n):
            i = 0
            while i < n:
                i += 1
        """,
    "never entered": """
        while False:
            pass
        """,
    "break": """
        def f(n):
            while True:
                n.append(1)
                if len(n) > 3:
                    break
        """,
    "return inside": """
        def f(x):
            i = 0
            while i < 5:
                return x
        """,
    "raise inside": """
        def f(x):
            i = 0
            while i < 5:
                raise ValueError(x)
        """,
    "yield": """
        def f(x):
            while True:
                yield x
        """,
    "await": """
        async def f(x):
            while True:
                await x
        """,
    "an iterator": """
        def f(it):
            total = 0
            try:
                while True:
                    total += next(it)
            except StopIteration:
                return total
        """,
    "an iterator that is unpacked": """
        def f(it):
            i = 0
            while i < 1:
                a, b = it
        """,
    "an index that leaves a list": """
        def f(x):
            i, total = 0, 0
            try:
                while True:
                    total += x[i]
                    i += 1
            except IndexError:
                return total
        """,
    "a list that is emptied": """
        def f(x):
            total = 0
            while len(x) > 0:
                total += x[0]
                x.pop()
        """,
    "a list that grows": """
        def f(x, n):
            out = []
            while len(out) < n:
                y = out[:1]
                out.append(x)
            return out
        """,
    "a list that grows under another name": """
        def f(x, n):
            out = []
            same = out
            while len(same) < n:
                y = same[0:1]
                out.append(x)
        """,
    "a list that grows as an argument": """
        def f(x, y):
            while len(x) < 5:
                z = x[0]
                y.append(z)
        """,
    "a list that another thread fills": """
        import threading
        def f(n):
            results = []
            threading.Thread(target=lambda: results.extend([1] * n)).start()
            while len(results) < n:
                pass
        """,
    "a global switch": """
        done = False
        def f():
            while not done:
                pass
        """,
    "a switch of the cell": """
        done = False
        while not done:
            print("waiting")
        """,
    "an attribute": """
        def f(node):
            while node.next is not None:
                node.step()
        """,
    "an attribute that changes": """
        class A:
            def f(self):
                while self.n < 3:
                    self.n += 1
        """,
    "an entry that changes under another name": """
        def f(state):
            same = state
            while state[0] < 3:
                same[0] += 1
        """,
    "a tensor that changes under another name": """
        import torch
        def f():
            x = torch.zeros(1)
            y = x
            while y < 3:
                x += 1
        """,
    "a tensor inside a list": """
        import torch
        def f(box, n):
            t = torch.zeros(1)
            box.append(t)
            u = box[0]
            while u < 3:
                t += 1
        """,
    "an argument that changes in place": """
        def f(x, y):
            while x < 3:
                y += 1
        """,
    "a condition that calls": """
        def f(x):
            while x.ready() is False:
                pass
        """,
    "the time": """
        import time
        def f(end):
            while time.time() < end:
                pass
        """,
    "sleeping": """
        import time
        def f(n):
            i = 0
            while i < n:
                time.sleep(1)
        """,
    "a walrus": """
        def f(file):
            while (line := file.readline()) != "":
                print(line)
        """,
    "a walrus inside": """
        def f(n):
            i = 0
            while i < n:
                print(i := i + 1)
        """,
    "a walrus in a comprehension": """
        def f(n):
            i = 0
            while i < n:
                x = [(i := i + 1) for _ in range(2)]
        """,
    "another function changes it": """
        def f(n):
            i = 0
            def step():
                nonlocal i
                i += 1
            while i < n:
                step()
        """,
    "another function changes it, which looks pure": """
        def f(n, x):
            i = 0
            def len(y):
                nonlocal i
                i += 1
            while i < n:
                len(x)
        """,
    "a global counter": """
        i = 0
        def step():
            global i
            i += 1
        def f(n):
            global i
            while i < n:
                step()
        """,
    "try and finally": """
        def f(n):
            i = 0
            while i < n:
                try:
                    pass
                finally:
                    i += 1
        """,
    "a for loop counts": """
        def f(n):
            i = 0
            while i < n:
                for i in range(i + 1, i + 3):
                    pass
        """,
    "an iterator that is left early": """
        def f(n, it):
            i = 0
            while i < n:
                for x in it:
                    y = 1 / x
                    break
        """,
    "a list of nothing the second time": """
        def f(n, it):
            i = 0
            while i < n:
                row = [x for x in it]
                y = torch.stack(row)
        """,
    "an entry of an iterator the second time": """
        def f(n, it, values):
            i = 0
            while i < n:
                x = 9
                for x in it:
                    pass
                y = values[x]
        """,
    "iterators that are unpacked": """
        def f(n, pairs):
            i = 0
            while i < n:
                for a, b in pairs:
                    pass
        """,
    "iterators that are unpacked in a list": """
        def f(n, pairs):
            i = 0
            while i < n:
                y = [a for a, b in pairs]
        """,
    "an iterator that is read in part": """
        def f(n, x, it):
            i = 0
            while i < n:
                for a, b in zip(x, it):
                    y = a / b
        """,
    "a loop over what a function gives": """
        def f(n):
            i = 0
            while i < n:
                for x in load(n):
                    pass
        """,
    "a list over what grows": """
        def f(n):
            i, out = 0, [1]
            while i < n:
                y = [1 / (9 - x) for x in out]
                out.append(i)
        """,
    "a loop over what grows": """
        def f(n):
            i, out = 0, [1]
            while i < n:
                for x in out:
                    y = 1 / (9 - x)
                out.append(i)
        """,
    "a list of calls": """
        def f(n, x):
            i = 0
            while i < n:
                y = [softmax(row) for row in x]
        """,
    "a list that is awaited": """
        async def f(n, x):
            i = 0
            while i < n:
                y = [row async for row in x]
        """,
    "entries that change": """
        def f(n, x):
            i = 0
            while i < n:
                for row in x:
                    row += 1
        """,
    "return from a loop inside": """
        def f(n, x):
            i = 0
            while i < n:
                for row in x:
                    if row is None:
                        return i
        """,
    "break after a loop inside": """
        def f(n, x):
            i = 0
            while i < n:
                for row in range(3):
                    pass
                break
        """,
    "a loop inside that has an end of its own": """
        def f(n, x):
            i = 0
            while i < n:
                for row in x:
                    pass
                else:
                    i = n
        """,
    "enumerate of one's own": """
        def f(n, x):
            i = 0
            def enumerate(y):
                nonlocal i
                i += 1
                return y
            while i < n:
                for j, k in enumerate(x):
                    pass
        """,
    "with": """
        def f(n, context):
            i = 0
            while i < n:
                with context as i:
                    pass
        """,
    "an import": """
        def f(n):
            i = 0
            while i < n:
                from module import i
        """,
    "unpacking": """
        def f(pair):
            i, j = 0, 1
            while i < 5:
                i, j = pair
        """,
    "a deleted name": """
        def f(n):
            i = 0
            while i < n:
                del i
        """,
    "an assertion": """
        def f(x):
            i, n = 0, 0
            while i < 1:
                n += 1
                assert n < 4
        """,
    "division by what falls to zero": """
        def f(n):
            i = 0
            while i < 1:
                n = n - 1
                y = 1 / n
        """,
    "a product that no longer fits": """
        def f(x, W):
            i = 0
            while i < 1:
                x = x @ W
        """,
    "a function of the notebook": """
        def f(x):
            i = 0
            while i < 1:
                softmax(x)
        """,
    "unknown text": "%%time\nwhile True:\n    pass",
    "no text": "while True",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_loop_returns_the_line_of_an_endless_loop(name: str) -> None:
    source = textwrap.dedent(ENDLESS[name])
    line = next(number for number, text in enumerate(source.splitlines(), start=1) if text.endswith("# here"))
    assert endless_loop(source) == line


@pytest.mark.parametrize("name", RIGHT)
def test_endless_loop_when_loop_may_end_is_none(name: str) -> None:
    assert endless_loop(textwrap.dedent(RIGHT[name])) is None


@pytest.mark.parametrize(
    "change",
    [
        "i = i + 1",
        "i -= -1",
        "n = i",
        "if x: i = 9",
        "for i in range(9): pass",
        "i, j = 9, 9",
        "for i in x: pass",
        "for i, _ in enumerate(x): pass",
        "for _ in x: i = i + 1",
        "y = [n := n - 1 for _ in x]",
    ],
)
def test_endless_loop_when_compared_name_changes_is_none(change: str) -> None:
    assert endless_loop(f"def f(x, n):\n    i = 0\n    while i < n:\n        y = x[0]\n        {change}\n") is None


def test_endless_loop_of_hostile_text_is_none() -> None:
    assert endless_loop("(" * 5000) is None
    assert endless_loop("while True: x = " + "-" * 3000 + "1") in (None, 1)
    assert endless_loop("while True:\n    pass\n" + "#" * MOST_CHARACTERS) is None
    assert endless_loop("\0while True: pass") is None
