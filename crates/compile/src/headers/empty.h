// Everything this header would declare for a kernel is built into the run-time compiler.
