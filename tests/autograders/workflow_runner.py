"""Run the steps of a GitHub workflow one by one, exactly as a runner would."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{ *([\w.]+) *\}\}")


@dataclass
class Runner:
    """One run of a repository's only workflow."""

    repository: Path
    workspace: Path
    programs: Path  # where `python` is
    known: Mapping[str, str] = field(default_factory=dict)  # values of expressions
    others: Mapping[str, Path] = field(default_factory=dict)  # repositories that can be fetched
    said: str = ""
    artifacts: list[Path] = field(default_factory=list)

    @property
    def summary(self) -> str:
        return self._summary.read_text(encoding="utf-8") if self._summary.exists() else ""

    @property
    def _summary(self) -> Path:
        return self.workspace.with_name("summary.md")

    def run(self) -> int:
        """Run all steps until one fails, and return its exit code; zero if none does."""
        (workflow,) = (self.repository / ".github/workflows").iterdir()
        text = yaml.safe_load(workflow.read_text(encoding="utf-8"))
        assert text["permissions"] == {"contents": "read"}
        (job,) = text["jobs"].values()
        self.workspace.mkdir()
        return next(filter(None, map(self._step, job["steps"])), 0)

    def _step(self, step: Mapping[str, Any]) -> int:
        asked = {name: self._value(str(value)) for name, value in step.get("with", {}).items()}
        match step.get("uses", "run").partition("@")[0]:
            case "actions/checkout":
                assert asked["persist-credentials"] == "False", "code of students would find the token"
                source = self.others[asked["repository"]] if "repository" in asked else self.repository
                shutil.copytree(source, self.workspace / asked.get("path", ""), dirs_exist_ok=True)
            case "actions/setup-python":
                assert re.fullmatch(r"3\.\d+", asked["python-version"])
            case "actions/upload-artifact":
                self.artifacts.append(self.workspace / asked["path"])
            case "run":
                return self._run(step)
            case other:
                raise AssertionError(f"{other} is not known here")
        return 0

    def _run(self, step: Mapping[str, Any]) -> int:
        assert not _EXPRESSION.search(step["run"]), "what an expression stands for could be a command"
        own = {name: self._value(value) for name, value in step.get("env", {}).items()}
        runners = {"GITHUB_STEP_SUMMARY": str(self._summary), "GITHUB_WORKSPACE": str(self.workspace), "CI": "true"}
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]],
            cwd=self.workspace / step.get("working-directory", ""),
            env={**os.environ, "PATH": f"{self.programs}:{os.environ['PATH']}", **runners, **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.said += done.stdout
        return done.returncode

    def _value(self, text: str) -> str:
        return _EXPRESSION.sub(lambda found: self.known[found[1]], text)
