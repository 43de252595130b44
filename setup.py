"""What pyproject.toml cannot say: the wheel holds the course that `grader demo` grades."""

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from setuptools import setup
from setuptools.command.build_py import build_py


class WithDemo(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:  # then the course lies beside the package
            return
        with ZipFile(Path(self.build_lib, "grader/checks/demo/course.zip"), "w", ZIP_DEFLATED) as archive:
            for path in (Path("nbgrader_config.py"), *sorted(Path("source").rglob("*"))):
                if path.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts):
                    archive.write(path)


setup(cmdclass={"build_py": WithDemo})
