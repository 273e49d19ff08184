"""NumPy, imported when something of it is needed first.

A program that gives kernels only what it has on the device need not wait for an import that takes longer
than all of this package.
"""


class _LazyNumPy:
    def __getattr__(self, name):
        import numpy

        value = getattr(numpy, name)
        setattr(self, name, value)
        return value


np = _LazyNumPy()
