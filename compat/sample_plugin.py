"""A plugin of pytest that keeps a share of the collected tests, the same ones in each run: ``--one-in 8``."""

import zlib


def pytest_addoption(parser):
    parser.addoption("--one-in", type=int, default=1, help="keep one test in this many, chosen by its name")


def pytest_collection_modifyitems(config, items):
    one_in = config.getoption("--one-in")
    dropped = [item for item in items if zlib.crc32(item.nodeid.rpartition("/")[2].encode()) % one_in]
    config.hook.pytest_deselected(items=dropped)
    items[:] = [item for item in items if item not in set(dropped)]
