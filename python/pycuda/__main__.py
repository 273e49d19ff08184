"""``python -m pycuda`` is ``python -m pycuda.info``."""

from pycuda.info import main

if __name__ == "__main__":
    main()
