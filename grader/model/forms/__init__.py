"""The forms that an exercise can ask for. Each has a row of the same name in the table of grader/sandbox/forms.

That row puts cases to a student's code; the form here says how results are compared.
"""
