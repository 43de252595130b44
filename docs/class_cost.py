"""Draw what a class costs, from the numbers that `grader bench` has written: `python docs/class_cost.py`."""

import json
from pathlib import Path

import matplotlib.pyplot as plt

HERE = Path(__file__).parent
OURS, THEIRS = "#1d3f72", "#c2571a"


def main() -> None:
    measured = json.loads((HERE / "class_cost.json").read_text())
    sizes = [one["students"] for one in measured["ours"]]
    seconds = [one["seconds"] for one in measured["ours"]]
    theirs = [measured["ratio"][str(size)] * each for size, each in zip(sizes, seconds, strict=True)]
    plt.rc("font", size=10)
    plt.rc("axes.spines", top=False, right=False)
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    ax.plot(sizes, [total / size for total, size in zip(theirs, sizes, strict=True)], "s--", color=THEIRS)
    ax.plot(sizes, [total / size for total, size in zip(seconds, sizes, strict=True)], "o-", color=OURS)
    ax.annotate("nbgrader alone", (sizes[0], theirs[0] / sizes[0]), (0, 8), textcoords="offset points", color=THEIRS)
    ax.annotate("grader autograde", (sizes[0], seconds[0] / sizes[0]), (0, 8), textcoords="offset points", color=OURS)
    ax.set(xscale="log", yscale="log", xlabel="students in the class", ylabel="seconds for a submission")
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.minorticks_off()
    ax.grid(axis="y", color="#dddddd")
    ax.set_title(f"What a submission costs, {measured['machine']}", loc="left")
    figure.savefig(HERE / "class_cost.svg")


if __name__ == "__main__":
    main()
