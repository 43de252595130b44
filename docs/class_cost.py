"""Draw what a class costs, from the numbers of two runs of `grader bench`: `python docs/class_cost.py`.

One measured classes beside nbgrader (class_cost.json), the other how the cost grows (class_growth.json).
"""

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

HERE = Path(__file__).parent
OURS, THEIRS = "#1d3f72", "#c2571a"


def main() -> None:
    measured = numbers("class_cost.json")
    compared = {one["students"]: one["seconds"] / one["students"] for one in measured["ours"]}
    theirs = {students: measured["ratio"][str(students)] * each for students, each in compared.items()}
    grown = numbers("class_growth.json")
    growth = {int(students): seconds / int(students) for students, seconds in grown["growth"].items()}
    each = {int(students): seconds for students, seconds in grown["each"].items()}

    plt.rcParams.update(
        {"font.size": 10, "svg.hashsalt": "class", "axes.spines.top": False, "axes.spines.right": False}
    )
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    draw(ax, theirs, "nbgrader alone (1 in 20 hangs or crashes)", "s", THEIRS)
    draw(ax, compared, "grader autograde, the same class", "s", OURS)
    draw(ax, growth, "grader autograde, nothing hangs", "o-", OURS, last=True)
    draw(ax, each, "beyond the start", "o:", OURS, below=True)
    ax.set(xscale="log", yscale="log", xlabel="students in the class", ylabel="seconds for a submission")
    ax.set_xticks(sorted(growth), [f"{students:,}" for students in sorted(growth)])
    ax.set_ylim(min(each.values()) / 3, max(theirs.values()) * 2.5)
    ax.minorticks_off()
    ax.grid(axis="y", color="#dddddd")
    ax.set_title(f"What a submission costs, {measured['machine']}", loc="left")
    figure.savefig(HERE / "class_cost.svg", metadata={"Date": None})


def numbers(file: str) -> Any:
    return json.loads((HERE / file).read_text())["class"]["self_attention"]


def draw(
    ax: Any, seconds: dict[int, float], label: str, style: str, color: str, *, below: bool = False, last: bool = False
) -> None:
    ax.plot(seconds.keys(), seconds.values(), style, color=color)
    place = {"xytext": (0, -9), "va": "top"} if below else {"xytext": (0, 8), "va": "bottom"}
    at = list(seconds.items())[-1 if last else 0]
    ax.annotate(label, at, textcoords="offset points", color=color, ha="right" if last else "left", **place)


if __name__ == "__main__":
    main()
