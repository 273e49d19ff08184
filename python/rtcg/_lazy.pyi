class _LazyNumPy:
    def __getattr__(self, name: str) -> object: ...

np: _LazyNumPy
