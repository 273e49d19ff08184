"""``python -m pycuda.debug [-m] SCRIPT ARGUMENTS``: run a program for a debugger; see `rtcg.debug`."""

from rtcg.debug import main

if __name__ == "__main__":
    main()
