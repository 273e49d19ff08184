"""``python -m pycuda`` prints what this installation offers; ``--attributes`` and ``--functions`` print more."""

import argparse
import warnings

from pycuda import _rtcg


def main():
    parser = argparse.ArgumentParser(prog="python -m pycuda", description=__doc__)
    parser.add_argument("--attributes", action="store_true", help="every attribute of every device")
    parser.add_argument("--functions", action="store_true", help="every function of the driver API")
    arguments = parser.parse_args()
    with warnings.catch_warnings():
        # The report itself says which devices are virtual.
        warnings.simplefilter("ignore")
        print(_rtcg.report(attributes=arguments.attributes, functions=arguments.functions), end="")


if __name__ == "__main__":
    main()
