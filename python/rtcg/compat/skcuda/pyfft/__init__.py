"""PyFFT's package over `rtcg`: `pyfft.cuda` has `Plan`. There is no `pyfft.cl`."""

# The version of PyFFT's interface that the module follows.
VERSION = (0, 3, 9)
