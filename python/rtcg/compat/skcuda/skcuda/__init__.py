"""scikit-cuda's modules over `rtcg`, so that programs written for scikit-cuda run unchanged, with any NumPy."""

# The version of scikit-cuda's interface that the modules follow.
VERSION_TEXT = "0.5.3"
__version__ = VERSION_TEXT
