"""What the text of a student's code shows."""

__all__ = ["code_facts", "definitions", "device_facts", "names", "pure_calls", "student_text"]
