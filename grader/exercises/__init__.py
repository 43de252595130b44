"""The attention course: one file for each exercise, opened by grader/course/loading.py alone, and what they share."""
