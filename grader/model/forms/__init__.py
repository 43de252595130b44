"""The forms of what an exercise asks for. Each has a row of the same name in the table of grader/sandbox/forms.

That row puts cases to a student's code; this one says how what came back is compared.
"""
