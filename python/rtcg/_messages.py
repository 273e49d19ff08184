"""What error messages say of values."""


def shown(value):
    """A value as an error shows it: in one line, long ones shortened."""
    dtype = getattr(value, "dtype", None)
    if dtype is not None and getattr(value, "ndim", 0):
        return f"an array of dtype {dtype}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."
