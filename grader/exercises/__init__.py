"""The attention course: a file for each exercise, loaded only by grader/course/loading.py, and the code they share."""
