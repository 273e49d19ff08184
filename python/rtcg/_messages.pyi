def shown(value: object) -> str:
    """A value as an error shows it: in one line, long ones shortened."""
