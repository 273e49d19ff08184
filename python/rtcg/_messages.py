"""Values in error messages."""


def shown(value: object) -> str:
    """A value as error messages show it: on one line, with long ones abbreviated."""
    dtype = getattr(value, "dtype", None)
    if dtype is not None and not isinstance(value, type) and getattr(value, "ndim", False):
        return f"an array of dtype {dtype}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."
