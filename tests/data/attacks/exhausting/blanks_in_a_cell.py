"""Hands in blanks that keep the readers of nbconvert and of the feedback page busy for minutes; our own reader goes once over them."""
# Gets: only part is shown
def attack(notebook, cells, folder):
    cells["exercise-1"]["source"] = "x = 1" + "\n\t" * 50_000 + "x = 2"
    cells["exercise-2"]["source"] = "%%html\n" + "<a " * 30_000
    cells["exercise-3"]["source"] = "x = '" + "\\N{" * 10_000 + "'"
