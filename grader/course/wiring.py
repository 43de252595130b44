"""Add our parts to the settings of a course that does not name them, such as one made by `nbgrader quickstart`.

The course's own settings and steps stay where they are, and our steps replace the matching ones of nbgrader. A course
that names our parts is not changed, except that it gets the step for releases: that does nothing if no module of the
grader belongs beside a notebook.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

# Imported only for types: `grader doctor` has to report what is missing.
if TYPE_CHECKING:
    from traitlets.config import Config

NBGRADER_SECONDS = 30  # for one cell, unless a course says otherwise

Step = str | type  # of a conversion: a class, or the name of one

_OURS = "grader.gradebook.preprocessors."
_BESIDE = "grader.release.beside.ModulesBeside"
_PAGE = "grader.pages.feedback_page."
# nbgrader's own steps, of which ours replace those that read and run a submission.
_SANITIZE = ["ClearOutput", "DeduplicateIds", "OverwriteKernelspec", "OverwriteCells", "CheckCellMetadata"]
_AUTOGRADE = ["Execute", "IgnorePattern", "ClearMetadataPreprocessor", "LimitOutput", "SaveAutoGrades"]
_AUTOGRADE += ["AssignLatePenalties", "CheckCellMetadata"]
_REPLACEMENTS = {
    "DeduplicateIds": f"{_OURS}RepairSubmission",
    "Execute": f"{_OURS}RunAndJudge",
    "ClearMetadataPreprocessor": "nbconvert.preprocessors.ClearMetadataPreprocessor",
}
_WITH_TIMEOUT = ("RunAndJudge", "Execute", "ExecutePreprocessor", "NotebookClient")


def wired(config: Config) -> Config:
    """The settings with our parts in them."""
    _add_local_modules(config.GenerateAssignment)
    autograde, feedback = config.Autograde, config.GenerateFeedback
    sanitize, run = _steps(autograde, "sanitize", _SANITIZE), _steps(autograde, "autograde", _AUTOGRADE)
    if any(_name(step).startswith(_OURS) for step in (*sanitize, *run)):
        return config
    if not any(_name(step).endswith(".DeduplicateIds") for step in sanitize):
        sanitize.insert(0, _REPLACEMENTS["DeduplicateIds"])
    autograde.sanitize_preprocessors = list(map(_replace, sanitize))
    autograde.autograde_preprocessors = list(map(_replace, run))
    autograde.setdefault("exporter_class", f"{_OURS}SubmissionExporter")
    if not {"exporter_class", "preprocessors"} & feedback.keys():
        feedback.exporter_class = f"{_PAGE}FeedbackExporter"
        feedback.preprocessors = [f"{_PAGE}Grades"]
    if not any("timeout" in config[name] for name in _WITH_TIMEOUT):
        config.RunAndJudge.timeout = NBGRADER_SECONDS
    return config


def _add_local_modules(release: Config) -> None:
    steps = release.preprocessors  # a list, or changes to nbgrader's own list
    if isinstance(steps, list):
        release.preprocessors = steps if _BESIDE in map(_name, steps) else [_BESIDE, *steps]
    elif _BESIDE not in str(steps.to_dict()):
        steps.prepend([_BESIDE])


def _steps(autograde: Config, kind: str, usual: list[str]) -> list[Step]:
    name = f"{kind}_preprocessors"
    if name in autograde:
        return list(autograde[name])
    return [f"nbgrader.preprocessors.{step}" for step in usual]


def _replace(step: Step) -> Step:
    """Our step in place of this one of nbgrader; any other stays."""
    module, _, cls = _name(step).rpartition(".")
    if module.split(".")[0] not in ("nbgrader", "nbconvert"):
        return step
    return _REPLACEMENTS.get(cls, step)


def _name(step: Step) -> str:
    return step if isinstance(step, str) else f"{step.__module__}.{step.__name__}"
