"""Errors of programs."""


class UntranslatableError(TypeError):
    """A function that cannot be made a program: its source is not known, or it has what programs do not have."""
