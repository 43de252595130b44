"""What the text of a student's code shows: facts, what a function reaches, and what is forbidden."""

__all__ = ["code_facts", "definitions", "device_facts", "forbidden", "reached", "student_text"]
