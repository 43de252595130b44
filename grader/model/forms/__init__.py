"""The forms of what an exercise asks for: a file for each, and one of the same name in grader/sandbox/forms.

That other one puts cases to a student's code; this one says how what came back is compared.
"""
