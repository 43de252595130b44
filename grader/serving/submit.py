"""Submit a notebook to your course, and read the verdict within seconds.

Once, with the personal link from your instructor:   from submit import sign_in, submit
                                                     sign_in("https://…/enter/…")
Then, in a notebook that is saved:                   submit()
Or in a terminal, with the link only once:           python submit.py --link LINK
                                                     python submit.py NOTEBOOK
"""

from __future__ import annotations

import argparse
import ast
import html
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

SERVER = ""  # the server that this file comes from fills it in
CODES_FILE = Path.home() / ".config" / "submit_to_course.json"  # the codes of personal links, by server
_FRAME = "border:0;height:36rem;width:100%"
_API = "/api/v1"
PATIENCE = 30.0  # seconds without a word from the server


# By the state of an exercise, as on the feedback page.
_MARKS = {"full": "✓", "part": "◐", "none": "✗", "waiting": "…", "void": "–"}


class Sorry(Exception):
    """It cannot be done; the text says why, and what to do."""


class _Spelling(NamedTuple):
    """How to write what a message asks for: as Python in a notebook, or as a command."""

    sign_in: str
    notebook: str
    assignment: str  # with the name of the file in place of {}
    late: str  # with the names of the file and of the assignment


_IN_NOTEBOOK = _Spelling(
    'sign_in("https://…/enter/…")', 'submit("name.ipynb")', 'submit("{}", "…")', 'submit("{}", "{}", late=True)'
)


def _in_terminal(program: str) -> _Spelling:
    return _Spelling(
        f"{program} --link LINK",
        f"{program} NOTEBOOK",
        f"{program} {{}} --assignment …",
        f"{program} {{}} --assignment {{}} --late",
    )


class _NowhereElse(HTTPRedirectHandler):
    """A code is for its own server: no other gets it by a redirection."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _ask(server: str, code: str, place: str, content: bytes | None = None) -> Any:
    """Send a request, and return the open answer."""
    headers = {"Authorization": f"Bearer {code}", "Content-Type": "application/x-ipynb+json"}
    try:
        return build_opener(_NowhereElse).open(Request(server + _API + place, content, headers), timeout=PATIENCE)
    except HTTPError as error:
        try:
            message = json.load(error)["error"]
        except (ValueError, KeyError, TypeError, RecursionError):
            message = f"The server answers: {error.code} {error.reason}."
        raise Sorry(message) from None
    except (URLError, OSError) as error:
        raise Sorry(f"{server} cannot be reached: {getattr(error, 'reason', error)}. Try again soon.") from None


def _codes() -> dict[str, str]:
    try:
        codes = json.loads(CODES_FILE.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return codes if isinstance(codes, dict) else {}


def sign_in(link: str) -> None:
    """Remember the personal link from your instructor, on this machine, for you alone."""
    _tried(_sign_in, link)


def submit(notebook: str = "", assignment: str = "", late: bool = False) -> None:
    """Submit this notebook, or the one of this name, and show the verdict.

    If it is late, and would replace a submission that counts, it is only submitted with `late=True`.
    """
    _tried(_submit, notebook, assignment, late, _IN_NOTEBOOK)


def in_terminal(words: Sequence[str], program: str = "python submit.py") -> int:
    """Sign in, or submit a notebook, as a command says; returns the exit code."""
    parser = argparse.ArgumentParser(
        program, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("notebook", nargs="?", help="a notebook, as it is saved")
    parser.add_argument("assignment", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("--assignment", dest="named", default="", help="if the file name does not show it")
    parser.add_argument("--link", help="a personal link, to sign in with once")
    parser.add_argument("--late", action="store_true", help="submit even if being late costs points")
    options = parser.parse_args(words)
    if not options.notebook and not options.link:
        parser.print_help()
        return 2
    code = _tried(_sign_in, options.link) if options.link else 0
    if code:
        return code
    assignment = options.named or options.assignment or ""
    return _tried(_submit, options.notebook, assignment, options.late, _in_terminal(program)) if options.notebook else 0


def _tried(do: Callable[..., None], *arguments: Any) -> int:
    try:
        do(*arguments)
    except Sorry as error:
        _say(error)
        return 1
    return 0


def _say(text: object) -> None:
    print(text, flush=True)  # noqa: T201


def _sign_in(link: str = "") -> None:
    url = urlsplit(link.strip())
    base, enter, code = url.path.rpartition("/enter/")
    if not (url.scheme in ("http", "https") and url.netloc and enter and code):
        raise Sorry("This is not a personal link. Yours looks like https://…/enter/… and comes from your instructor.")
    server = f"{url.scheme}://{url.netloc}{base}"
    if SERVER and server != SERVER:
        raise Sorry(f"This link is for {server}, but this submit.py is for {SERVER}. Download submit.py from {server}.")
    with _ask(server, code, "/me") as answer:
        person = json.load(answer)
    CODES_FILE.parent.mkdir(parents=True, exist_ok=True)
    other_codes = {address: other_code for address, other_code in _codes().items() if address != server}
    CODES_FILE.touch(mode=0o600)
    CODES_FILE.chmod(0o600)
    CODES_FILE.write_text(json.dumps({**other_codes, server: code}), encoding="utf-8")
    name, full_name = person["name"], person["full_name"]
    _say(f"Signed in as {name}." if full_name == name else f"Signed in as {full_name} ({name}).")


def _submit(notebook: str, assignment: str, late: bool, spelling: _Spelling) -> None:
    path = _this_notebook(notebook, spelling)
    _must_be_saved(path)
    _show(_verdict_on(path, assignment, late, spelling))


def _verdict_on(path: Path, assignment: str, late: bool, spelling: _Spelling) -> dict[str, Any]:
    """Send it, say how it goes on, and return the verdict."""
    server, code = _server_and_code(spelling)
    with _ask(server, code, "/me") as answer:
        assignments = json.load(answer)["assignments"]
    name = assignment or _assignment_of(path, assignments, spelling)
    warning = assignments.get(name, {})
    if warning.get("late_costs_points") and not late:
        anyway = spelling.late.format(path.name, name)
        raise Sorry(f"{warning['late']} Nothing was submitted. To submit it anyway: {anyway}")
    with _ask(server, code, f"/assignments/{quote(name, safe='')}", path.read_bytes()) as answer:
        sent = json.load(answer)
    attempts_left = "" if sent["left"] is None else f" Attempts left: {sent['left']}."
    saved = time.strftime("%H:%M:%S", time.localtime(path.stat().st_mtime))
    _say(f"{path.name}, as saved at {saved}, has arrived.{attempts_left}")
    place = f"/submissions/{sent['submission']}"
    before = -1
    with _ask(server, code, f"{place}/events") as events:
        for line in events:
            if not line.startswith(b"data:"):
                continue
            state = json.loads(line[5:])
            if state["state"] not in ("waiting", "grading"):
                break
            if state["ahead"] and state["ahead"] != before:
                _say(f"{state['ahead']} before you …")
            before = state["ahead"]
        else:
            raise Sorry(f"The server has stopped for now. Your notebook is safe; look at {server}{place} later.")
    page = b""
    if state["feedback"] and hasattr(_shell(), "kernel"):
        with _ask(server, code, f"{place}/feedback") as answer:
            page = answer.read()
    return {**state, "address": f"{server}{place}", "page": page.decode()}


def _server_and_code(spelling: _Spelling) -> tuple[str, str]:
    codes = _codes()
    server = SERVER or next(reversed(list(codes)), "")
    if server in codes:
        return server, codes[server]
    token = os.environ.get("JUPYTERHUB_API_TOKEN")
    if SERVER and token:
        return server, token  # the hub knows whose it is
    raise Sorry(f"First sign in with your personal link: {spelling.sign_in}")


def _assignment_of(path: Path, assignments: dict[str, Any], spelling: _Spelling) -> str:
    """The assignment whose notebook has this name, also where a browser has called it "name (1).ipynb"."""
    lengths = {}
    for name, facts in assignments.items():
        fitting = [len(notebook) for notebook in facts["notebooks"] if path.stem.startswith(notebook)]
        if fitting:
            lengths[name] = max(fitting)
    best = [name for name, length in lengths.items() if length == max(lengths.values())]
    if len(best) != 1:
        names = ", ".join(assignments)
        spelled = spelling.assignment.format(path.name)
        raise Sorry(f"Which assignment is {path.name}? Write {spelled} with one of: {names}")
    return best[0]


def _this_notebook(notebook: str, spelling: _Spelling) -> Path:
    """The notebook that this runs in, as far as Jupyter or VS Code say; or else the only one in this folder."""
    names = vars(sys.modules["__main__"])
    name = notebook or names.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME", "")
    path = Path(name)
    if path.suffix == ".ipynb":
        for candidate in (path, Path(path.name)):
            if candidate.is_file():
                return candidate
        raise Sorry(f"There is no file {path.name} in {Path.cwd()}.")
    notebooks = sorted(Path.cwd().glob("*.ipynb"))
    if len(notebooks) != 1:
        raise Sorry(f"Say which notebook: {spelling.notebook}")
    return notebooks[0]


def _must_be_saved(path: Path) -> None:
    """What was run last of each function or class must be in the file: else the file is older than the work."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        saved = ["".join(cell["source"]).strip() for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise Sorry(f"{path.name} is not a notebook that can be read.") from None
    in_file = {name for source in saved for name in _defined(source)}
    history = getattr(_shell(), "history_manager", None)
    last = {name: source.strip() for source in getattr(history, "input_hist_raw", ()) for name in _defined(source)}
    changed = [name for name, source in last.items() if name in in_file and source not in saved]
    if changed:
        raise Sorry(
            f"In {path.name}, {changed[-1]} is not as you last ran it. Save the notebook (Ctrl+S), and submit again."
        )


def _defined(source: str) -> list[str]:
    try:
        return [one.name for one in ast.parse(source).body if isinstance(one, (ast.FunctionDef, ast.ClassDef))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # also brackets nested too deeply
        return []


def _shell() -> Any:
    """Jupyter's shell; None in plain Python."""
    return getattr(sys.modules["__main__"], "get_ipython", lambda: None)()


def _show(verdict: dict[str, Any]) -> None:
    """In a notebook the feedback page, where it may be read; sentences elsewhere."""
    if verdict["page"]:
        import IPython.display

        page = html.escape(verdict["page"], quote=True)
        show: Any = IPython.display.display_html
        show(f'<iframe sandbox style="{_FRAME}" title="Feedback" srcdoc="{page}"></iframe>', raw=True)
    _say("\n".join(_lines(verdict)))


def _lines(verdict: dict[str, Any]) -> Iterator[str]:
    result = verdict["result"]
    if "error" in result:
        yield f"It could not be graded: {result['error']} This does not count as an attempt."
    elif "points" in result:
        so_far = " so far" if result["waits"] else ""
        yield f"{round(result['points'], 2):g} of {round(result['max_points'], 2):g} points{so_far}."
    else:
        yield "Results are hidden for now."
    yield from verdict["remarks"]
    for exercise in [] if verdict["page"] else result.get("exercises", ()):
        has_no_points = exercise["state"] in ("waiting", "void") and not exercise["points"]
        points = "–" if has_no_points else f"{round(exercise['points'], 2):g}"
        yield f"{_MARKS[exercise['state']]} {exercise['heading']}, {points} of {exercise['max_points']:g}"
        yield from (f"  {sentence}" for sentence in [exercise["remark"], *exercise["sentences"]] if sentence)
    yield f"More, and the receipt: {verdict['address']}"


if __name__ == "__main__":
    sys.exit(in_terminal(sys.argv[1:]))
