"""Programs compiled for a device."""


def call(function: object, args: tuple[object, ...], place: object) -> object:
    """The result of a program at a device."""
    raise NotImplementedError(f"programs are not compiled for {place} yet")
