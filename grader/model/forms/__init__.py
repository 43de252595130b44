"""The forms that an exercise can ask for. Each names a row of the table in grader/sandbox/forms.

That row, or the exercise's own probe, puts cases to a student's code; the form here says how results are compared.
"""
