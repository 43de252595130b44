"""Draw what a class costs, from the numbers that `grader bench` has written: `python docs/class_cost.py`."""

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

HERE = Path(__file__).parent
OURS, THEIRS = "#1d3f72", "#c2571a"


def main() -> None:
    measured = json.loads((HERE / "class_cost.json").read_text())
    sizes = [one["students"] for one in measured["ours"]]
    whole = [one["seconds"] / one["students"] for one in measured["ours"]]
    theirs = [measured["ratio"][str(size)] * each for size, each in zip(sizes, whole, strict=True)]
    each = [measured["each"][str(size)] for size in sizes]

    plt.rcParams.update(
        {"font.size": 10, "svg.hashsalt": "class", "axes.spines.top": False, "axes.spines.right": False}
    )
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    draw(ax, sizes, theirs, "nbgrader alone", fmt="s--", color=THEIRS)
    draw(ax, sizes, whole, "grader autograde", fmt="o-", color=OURS)
    draw(ax, sizes, each, "each further one,\nwhere nothing hangs", fmt="o:", color=OURS, below=True)
    ax.set(xscale="log", yscale="log", xlabel="students in the class", ylabel="seconds for a submission")
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.set_ylim(min(each) / 3, max(theirs) * 2.5)
    ax.minorticks_off()
    ax.grid(axis="y", color="#dddddd")
    ax.set_title(f"What a submission costs, {measured['machine']}", loc="left")
    figure.savefig(HERE / "class_cost.svg", metadata={"Date": None})


def draw(
    ax: Any, sizes: list[int], seconds: list[float], label: str, *, fmt: str, color: str, below: bool = False
) -> None:
    ax.plot(sizes, seconds, fmt, color=color)
    place = {"xytext": (0, -9), "va": "top"} if below else {"xytext": (0, 8), "va": "bottom"}
    ax.annotate(label, (sizes[0], seconds[0]), textcoords="offset points", color=color, **place)


if __name__ == "__main__":
    main()
