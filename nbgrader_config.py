"""nbgrader's settings for this course: our reader, repairer and judge in place of its own."""

c = get_config()  # noqa: F821  nbgrader provides it

c.CourseDirectory.course_id = "attention"
c.GraderCourse.exercises = "grader.exercises"  # a folder of the course, or an installed package, as here
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__"]
# Pages that were handed in would be shown with the rights of the formgrader, and lie among those of the feedback.
c.CourseDirectory.ignore += ["*.[hH][tT][mM]*", "*.[xX][hH][tT]*"]

# What checks.py imports of the grader lies beside the released notebook: checking.py and compare.py.
c.GenerateAssignment.preprocessors.prepend(["grader.release.beside.ModulesBeside"])

c.Autograde.exporter_class = "grader.gradebook.preprocessors.SubmissionExporter"
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    "grader.gradebook.preprocessors.RepairSubmission",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "grader.gradebook.preprocessors.RunAndJudge",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# A page of our own for each student, whoever asks for it: grader feedback, nbgrader generate_feedback, the formgrader.
c.GenerateFeedback.exporter_class = "grader.pages.feedback_page.FeedbackExporter"
c.GenerateFeedback.preprocessors = ["grader.pages.feedback_page.Grades"]

# For the pages of the formgrader. Texts and outputs are harmless before; this keeps each in its place, and none busy.
c.HTMLExporter.filters = {
    "markdown2html": "grader.notebooks.safe_html.markdown_to_html",
    "highlight_code": "grader.notebooks.highlighting.code_to_html",
}
