"""PyCUDA's modules over `rtcg`, so that programs written for PyCUDA run unchanged."""

# The version of PyCUDA's interface that the modules follow.
VERSION = (2026, 1)
VERSION_STATUS = ""
VERSION_TEXT = ".".join(map(str, VERSION)) + VERSION_STATUS
__version__ = VERSION_TEXT
