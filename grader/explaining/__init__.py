"""Questions about a student's own right code, answered by running it and versions with one line changed."""

__all__ = ["case_inputs", "code_questions", "note_writing", "observed", "question", "subject"]
