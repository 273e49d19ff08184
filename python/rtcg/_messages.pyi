def shown(value: object) -> str:
    """A value as error messages show it: on one line, with long ones abbreviated."""
