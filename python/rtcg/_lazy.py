"""NumPy, imported when it is first needed.

A program that passes only device memory to kernels need not wait for an import that takes longer than all of this
package.
"""


class _LazyNumPy:
    def __getattr__(self, name):
        import numpy

        value = getattr(numpy, name)
        setattr(self, name, value)
        return value


np = _LazyNumPy()
