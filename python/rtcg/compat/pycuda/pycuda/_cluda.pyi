"""Macros that let one kernel source serve CUDA and, with other definitions, OpenCL."""

CLUDA_PREAMBLE: str
