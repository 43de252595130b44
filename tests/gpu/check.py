"""What this machine's GPU shows: `make gpu` runs it, and prints one table. docs/gpu.md has one that was measured.

It needs a GPU, PyTorch's build for it and our requirements, and no network. Each part is a row or a few, with what was
found and whether that is as it should be. Parts can be chosen: check.py doctor references …
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import test_tolerance
import torch
from device_only import DEVICE_ONLY
from graded_there import (
    CORES,
    DEVICE,
    LONG,
    Table,
    graded,
    hand_in,
    new_course,
    sandbox,
    text_of,
    told,
    verdicts,
)  # fmt: skip  # isort: skip
from outside import Outside, changes
from test_attacks import FOLDER, read

from class_mix import members, notebooks_of_class
from grader.course.folder import Course
from grader.host.devices import MEMORY_OF_SANDBOX, free_on_gpus, jobs_on_gpus
from grader.judging.wrong_device import tolerance_on
from grader.model.verdict import Reason, Verdict
from grader.notebooks.cells import solutions
from grader.sandbox import forms
from support.answer_keys import FUNCTIONS
from support.corpus import RIGHT, WRONG, Entry
from support.our_course import ASSIGNMENTS, EXERCISES, of_assignment
from support.places import ROOT
from support.solution_cells import from_notebook, notebook, of_notebook, put

CLASS = 60
JOBS = (4, 8, 16)
NOBODY = 65534


def doctor(table: Table) -> None:
    done = subprocess.run([sys.executable, "-m", "grader", "doctor"], cwd=ROOT, capture_output=True, text=True)
    lines = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
    print(*lines, sep="\n")
    cuda = " ".join(" ".join(line for line in lines if "CUDA" in line or "--device" in line).split())
    table.row("grader doctor", cuda[:100], done.returncode == 0 and "grades" in cuda)


def references(table: Table, course: Course) -> None:
    """Solutions of all assignments, by four at once."""
    for assignment in course.assignments():
        for number in range(2):
            hand_in(course, assignment, f"ref{number}", solutions(course.read("source", assignment)))
        began = time.monotonic()
        found = graded(course, assignment, course.students(assignment), jobs=2)
        lost = [told(one) for each in found.values() for one in verdicts(each).values() if not one.right]
        errors = [each.error for each in found.values() if each.error]
        points = sorted({f"{each.points:g} of {each.max_points:g}" for each in found.values()})
        took = f"{time.monotonic() - began:.1f} s"
        table.row(f"solutions of {assignment}", f"{' '.join(points)}, {took} {lost + errors or ''}", not lost + errors)


def errors_of_rounding(table: Table) -> None:
    """Of the notebooks' solutions, in float32 on the GPU, relative to the definition in float64."""
    torch.backends.cuda.matmul.allow_tf32 = False
    worst: dict[Any, float] = {}
    failed = []
    for name, exercise in FUNCTIONS.items():
        if name in test_tolerance.WITHOUT_ROUNDING:
            continue
        given = notebook(exercise.number)
        exec(from_notebook()[exercise.number], given)
        entry = given[exercise.entry]

        def value(inputs: Any, exercise: Any = exercise, entry: Any = entry) -> Any:
            tree, tensors = forms.encode_value(exercise.form.name, put(exercise, entry, there(list(inputs))))
            return forms.decode_value(exercise.form.name, tree, tensors)

        try:
            worst[name] = test_tolerance.spread(name, value)
        except Exception as error:
            failed.append(f"{name}: {type(error).__name__} {error}"[:120])
    name = max(worst, key=lambda each: worst[each])
    found = f"{worst[name]:.1e} (exercise {name}), tolerance {tolerance_on('cuda'):.0e}, {len(worst)} functions"
    table.row("largest error on CUDA, TF32 off", f"{found} {failed or ''}", worst[name] < tolerance_on("cuda") / 5)
    print("   ", {str(each): f"{worst[each]:.1e}" for each in worst})


def there(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(DEVICE)
    if isinstance(value, dict):
        return {name: there(item) for name, item in value.items()}
    return type(value)(map(there, value)) if isinstance(value, list | tuple) else value


def device_only(table: Table, course: Course) -> None:
    """What is right on the CPU only, and the same made right everywhere."""
    cases = {f"{kind}-{index}": (kind, piece) for index, piece in enumerate(DEVICE_ONLY.values()) for kind in KINDS}
    bad = []
    for assignment in {EXERCISES[piece.number].assignment for piece in DEVICE_ONLY.values()}:
        students = {
            student: case for student, case in cases.items() if EXERCISES[case[1].number].assignment == assignment
        }
        for student, (kind, piece) in students.items():
            cell = piece.fixed if kind == "right" else piece.code
            hand_in(course, assignment, student, {**of_notebook(assignment), piece.number: cell})
        for student, result in graded(course, assignment, students).items():
            kind, piece = students[student]
            verdict = verdicts(result).get(piece.number)
            names = () if kind == "right" else (piece.named,)
            if verdict is None or verdict.right != (kind == "right") or verdict.misconceptions != names:
                bad.append(f"{student} {piece.number} {result.error or (verdict and told(verdict))}")
    table.row(
        "device-only mistakes named, and made right", f"{len(cases) - len(bad)} of {len(cases)} {bad or ''}", not bad
    )


KINDS = ("right", "wrong")
HONEST = ("honest1", "honest2", "honest3")
# Each is an exercise 10 that attacks; nothing else may suffer.
ATTACKS = {
    "memory by torch": "    return torch.zeros(2**36, device=x.device)[:x.numel()].view_as(x)",
    "memory past torch": """
    import ctypes
    driver = ctypes.CDLL("libcuda.so.1")
    driver.cuMemAlloc_v2.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    taken = 0
    while driver.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), 2**28) == 0:
        taken += 1
    raise MemoryError(f"got {taken / 4} GiB")""",
    "memory kept, bit by bit": """
    kept = []
    while True:
        kept.append(torch.zeros(2**26, device=x.device))""",
    "memory of the host": """
    kept = []
    while True:
        kept.append(torch.ones(2**26))""",
    "an index out of range": "    return x[torch.tensor([10**9], device=x.device)]",
    "a wild address": """
    import ctypes
    driver = ctypes.CDLL("libcuda.so.1")
    driver.cuMemsetD8_v2(ctypes.c_uint64(12345), ctypes.c_ubyte(1), ctypes.c_size_t(100))
    return x[torch.tensor([10**9], device=x.device)]""",
    "a kernel that never ends": "    torch.cuda._sleep(10**15)\n    return torch.softmax(x, dim)",
    "an assertion in a kernel": "    torch._assert_async(torch.zeros(1, device=x.device))\n    return x.softmax(dim)",
}
HEAD = "def softmax_stable(x, dim=-1):\n"


def attacks(table: Table, course: Course) -> None:
    assignment = "causal_attention"
    right = of_notebook(assignment)
    names = {f"attack-{number}": name for number, name in enumerate(ATTACKS)}
    for student, name in names.items():
        hand_in(course, assignment, student, {**right, 10: HEAD + ATTACKS[name]})
    for student in HONEST:
        hand_in(course, assignment, student, right)
    began = time.monotonic()
    found = graded(course, assignment, [*names, *HONEST])
    took = time.monotonic() - began
    for student, name in names.items():
        one = found[student]
        if one.error:
            table.row(f"attack: {name}", one.error, False)
            continue
        wrong = {number: each for number, each in verdicts(one).items() if not each.right}
        others = wrong.keys() - {10}  # none, but those for which it has kept memory itself
        ok = 10 in wrong and wrong[10].credit == 0 and (not others or name == "memory past torch")
        table.row(f"attack: {name}", " | ".join(map(told, wrong.values())), ok)
    lost = [f"{student}: {found[student].error or found[student].points}" for student in HONEST
            if found[student].error or found[student].points != found[student].max_points]  # fmt: skip
    table.row(
        "honest students beside them",
        f"{len(HONEST) - len(lost)} of {len(HONEST)}, {took:.1f} s {lost or ''}",
        not lost,
    )
    outside = Outside(Path(tempfile.mkdtemp()), course)
    try:
        for name in ("names_of_threads", "socket_of_the_driver"):
            attack = read(FOLDER / f"escaping/{name}.py")
            with sandbox() as process:
                before = outside.state()
                code = f"open('world.py', 'w').write({outside.world()!r})\n{attack.text}"
                result = process.run_cell(code, 60)
                text = "".join(output.get("text", "") for output in result.outputs).strip()
                changed = [one for one in changes(before, outside.state()) if not one.startswith("process ")]
            ok = text == attack.gets and not changed and not result.error
            table.row(f"attack: {name}", f"{text[-150:]} {result.error} {changed or ''}", ok)
    finally:
        outside.close()


FILL = """
import torch
x = torch.full((int({share} * 2**30),), 123454321, dtype=torch.int32, device="cuda")
torch.cuda.synchronize()
"""
LOOK = """
import torch
seen, kept = 0, []
for _ in range(10):
    y = torch.empty(2**26, dtype=torch.int32, device="cuda")
    kept.append(y)
    seen += int((y == 123454321).sum())
print(seen)
"""
COMPUTE = """
import torch, time
q = torch.randn(4, 8, 64, 32, device="cuda", requires_grad=True)
torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
layer = torch.nn.Linear(256, 256, device="cuda")
layer(torch.randn(64, 256, device="cuda")).sum().backward()
torch.optim.AdamW(layer.parameters()).step()
print(torch.cuda.mem_get_info()[0])
"""
PAST_TORCH = """
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
driver.cuMemAlloc_v2.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
taken = 0
while taken < 1000 and driver.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), 2**28) == 0:
    taken += 1
print(taken / 4)
"""
HOST = """
kept = []
try:
    while len(kept) < 200:
        kept.append(torch.ones(2**26))
except RuntimeError:
    pass
print(len(kept) / 4)
"""
SPINS = """
import time, torch
torch.zeros(1, device="cuda").item()
began = time.process_time(); time.sleep(1); print(time.process_time() - began)
"""


def memory(table: Table) -> None:
    free: list[int] = []
    with contextlib.ExitStack() as stack:
        for _ in range(5):
            began = time.monotonic()
            process = stack.enter_context(sandbox())
            started = time.monotonic() - began
            free.append(int(text_of(process, COMPUTE)))
        idle = text_of(process, SPINS)
    each = [(one - other) / 2**20 for one, other in itertools.pairwise(free)]
    largest = max(each)
    table.row(
        "memory of one more sandbox that computes",
        f"{largest:.0f} MiB; we count {MEMORY_OF_SANDBOX / 2**20:.0f}",
        largest * 2**20 < MEMORY_OF_SANDBOX,
    )
    table.row("a sandbox on the GPU starts in", f"{started:.2f} s")
    table.row("processor seconds of an idle second", idle, idle[0].isdigit() and float(idle) < 0.2)
    room = free_on_gpus()
    table.row("jobs by free memory", f"{jobs_on_gpus(room, 10**6)}, and with {CORES} cores {jobs_on_gpus(room, CORES)}")
    with sandbox() as process:
        text_of(process, FILL.format(share=0.8))
    with sandbox() as process:
        seen = text_of(process, LOOK)
        table.row("leftover of another sandbox, filled and freed", f"{seen} of its numbers seen", seen == "0")
    with sandbox() as process:
        taken = text_of(process, PAST_TORCH)
        table.row("GiB that cuMemAlloc gets past PyTorch", taken, float(taken) < 10)
    with sandbox() as process:
        taken = text_of(process, "import torch\n" + HOST)
        table.row("GiB of the machine's memory, where 4 are allowed", taken, float(taken) <= 4)
    with sandbox(replace(LONG, memory=2**30)) as process:
        shown = text_of(process, FILL.format(share=0.5))
        table.row("2 GiB where 1 is allowed", shown[:90], "OutOfMemoryError" in shown)


def class_of_60(table: Table, course: Course) -> None:
    assignment = "self_attention"
    notebooks = notebooks_of_class(course, assignment)
    members_of = members(notebooks)
    names = []
    for _ in range(CLASS):
        student, text = next(members_of)
        path = course.notebook(f"submitted/{student}", assignment)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        names.append(student)
    found = {}
    plans = [("cpu", CORES), *((DEVICE, jobs) for jobs in JOBS)]
    for device, jobs in plans:
        began = time.monotonic()
        found[device, jobs] = graded(course, assignment, names, device, jobs, force=True)
        took = time.monotonic() - began
        errors = [one.error for one in found[device, jobs].values() if one.error]
        table.row(f"class of {CLASS}, {device}, {jobs} jobs", f"{took:.1f} s {errors[:2] or ''}", not errors)
    first = found[DEVICE, JOBS[0]]
    same = [name for name in names if first[name].points == found[plans[0]][name].points]
    elsewhere = [
        one for one in names if any(each.reason == Reason.WRONG_DEVICE for each in verdicts(first[one]).values())
    ]
    differ = set(names) - {*same, *elsewhere}
    counted = f"{len(same)} of {CLASS} the same, {len(elsewhere)} told of tensors on the CPU {differ or ''}"
    table.row("points of that class on both", counted, not differ)


RIGHT_KIND, WRONG_KIND, EARLY_KIND = "right", "wrong", "right, of exercises 1 to 8"


def corpus(table: Table, course: Course, until: float) -> None:
    """In an order that is drawn once, until time is up. What is not as its file says is asked of the CPU as well."""
    groups = list(corpus_groups())
    random.Random(0).shuffle(groups)
    waiting = {assignment: [one for one in groups if one[1] == assignment] for assignment in ASSIGNMENTS}
    tried, fine, elsewhere, bad = Counter[str](), Counter[str](), 0, []
    while time.monotonic() < until and any(waiting.values()):
        for assignment in ASSIGNMENTS:
            taken, waiting[assignment] = waiting[assignment][: 2 * CORES], waiting[assignment][2 * CORES :]
            if not taken or time.monotonic() > until:
                continue
            for kind, entry, on_gpu, on_cpu in graded_corpus(course, assignment, taken):
                mixes = on_gpu.reason == Reason.WRONG_DEVICE
                same = on_gpu.right == on_cpu.right and on_gpu.misconceptions == on_cpu.misconceptions
                tried[kind] += 1
                ok = same or (mixes and kind != RIGHT_KIND)
                fine[kind] += ok
                elsewhere += mixes
                if not ok:
                    bad.append(f"{entry} {told(on_gpu)}\n        on the CPU {told(on_cpu)}")
    for kind, count in tried.items():
        table.row(f"corpus, {kind}", f"{fine[kind]} of {count} as on the CPU", fine[kind] == count)
    table.row("of these, tensors on the CPU, and told so", elsewhere)
    print(*bad[:40], sep="\n    ")


Group = tuple[str, str, list[Entry]]


def corpus_groups() -> Iterator[Group]:
    """Kind, assignment, and at most one file of each exercise."""
    kinds = {
        RIGHT_KIND: [entry for entry in RIGHT if entry.number > 8],
        WRONG_KIND: WRONG,
        EARLY_KIND: [entry for entry in RIGHT if entry.number <= 8],
    }
    drawn = random.Random(0)
    for kind, entries in kinds.items():
        for assignment in ASSIGNMENTS:
            numbers = [one.number for one in of_assignment(assignment)]
            several = [[entry for entry in entries if entry.number == number] for number in numbers]
            for files in several:
                drawn.shuffle(files)
            for index in range(max(map(len, several))):
                yield kind, assignment, [files[index] for files in several if index < len(files)]


def graded_corpus(
    course: Course, assignment: str, groups: Sequence[Group]
) -> Iterator[tuple[str, Entry, Verdict, Verdict]]:
    """Each file with its verdict here, and there if it is not the one that the file asks for."""
    students = {f"corpus{index}": group for index, group in enumerate(groups)}
    for student, (_, _, entries) in students.items():
        hand_in(course, assignment, student, of_notebook(assignment) | {one.number: one.cell for one in entries})
    here = graded(course, assignment, students, force=True)
    unlike = [student for student, (kind, _, entries) in students.items()
              if not all(as_written(kind, one, verdicts(here[student])[one.number]) for one in entries)]  # fmt: skip
    there = graded(course, assignment, unlike, "cpu", force=True) if unlike else {}
    for student, (kind, _, entries) in students.items():
        found = verdicts(here[student])
        reference = verdicts(there[student]) if student in there else found
        for entry in entries:
            yield kind, entry, found[entry.number], reference[entry.number]


def as_written(kind: str, entry: Entry, found: Verdict) -> bool:
    if kind != WRONG_KIND:
        return found.right
    return not found.right and set(found.misconceptions) == entry.named


@contextlib.contextmanager
def as_ordinary_user(table: Table, parts: Sequence[str]) -> Iterator[None]:
    """Meanwhile, the same parts are tried by a user without any privilege, in a copy of its own."""
    if os.geteuid() != 0 or not parts:
        yield
        return
    folder = Path(tempfile.mkdtemp(prefix="user-"))
    left_out = shutil.ignore_patterns(".git", ".venv", "build", "wheels", ".whl", "__pycache__")
    shutil.copytree(ROOT, folder / "course", ignore=left_out)
    libraries = [entry for entry in sys.path if entry.endswith("-packages")]
    if (built := ROOT / "build/gpu/site-packages").is_dir():
        shutil.copytree(built, folder / "site-packages")
        libraries = [str(folder / "site-packages"), *(entry for entry in libraries if entry != str(built))]
    subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", folder], check=True)
    folder.chmod(0o755)
    own = {
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "PYTHONPATH": os.pathsep.join([*libraries, ".", "tests", "tests/judging", "tests/end_to_end"]),
        "USER": "nobody",
    }
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    order = [*become, sys.executable, "tests/gpu/check.py", *parts]
    with (folder / "log").open("w+") as log:
        started = subprocess.Popen(order, cwd=folder / "course", env={**os.environ, **own}, stdout=log, stderr=log)
        try:
            yield
        finally:
            code = started.wait()
            log.seek(0)
            lines = log.read().splitlines()
    for line in lines:
        if line.startswith('{"what"'):
            row = json.loads(line)
            table.row(f"ordinary user: {row['what']}", row["found"], row["ok"])
    if not any(line.startswith('{"what"') for line in lines):
        table.row("ordinary user", f"exit {code}: {' '.join(lines)[-1000:]}", False)


def main() -> int:
    parts = ("doctor", "user", "references", "memory", "rounding", "class", "device_only", "attacks", "corpus")
    order = argparse.ArgumentParser(description=__doc__)
    order.add_argument("parts", nargs="*", default=parts)
    order.add_argument("--seconds", type=float, default=420, help="for everything; the corpus gets what is left")
    asked = order.parse_args()
    torch.set_num_threads(1)
    table = Table()
    gpu = torch.cuda.get_device_name(0) if torch.cuda.is_available() else DEVICE
    table.row("machine", f"{gpu}, {CORES} cores, Linux {os.uname().release}, PyTorch {torch.__version__}")
    course = new_course()
    todo: dict[str, Callable[[], None]] = {
        "doctor": lambda: doctor(table),
        "references": lambda: references(table, course),
        "device_only": lambda: device_only(table, course),
        "attacks": lambda: attacks(table, course),
        "memory": lambda: memory(table),
        "rounding": lambda: errors_of_rounding(table),
        "class": lambda: class_of_60(table, course),
        "corpus": lambda: corpus(table, course, table.started + asked.seconds),
    }
    by_user = ["doctor", "references", "attacks"] if "user" in asked.parts else []
    with as_ordinary_user(table, by_user):
        for name in asked.parts:
            try:
                todo.get(name, lambda: None)()
            except Exception as error:
                table.row(name, f"{type(error).__name__}: {error}"[:400], False)
    for row in table.rows:
        print(json.dumps(row))
    return not all(row["ok"] for row in table.rows)


if __name__ == "__main__":
    raise SystemExit(main())
