"""The tables of instructions on the page about CI are what the virtual GPU does."""

import pytest

from tests.python.subprocesses import ROOT, has_real_device, run_python
from tools import instruction_table


@pytest.mark.skipif(has_real_device(), reason="the tables are the virtual GPU's")
def test_the_tables_are_those_of_the_page(tmp_path):
    made = tmp_path / "tables.md"
    run_python(
        """
        import sys
        from pathlib import Path
        import rtcg.autoinit
        from tools import instruction_table
        Path(sys.argv[1]).write_text(instruction_table.tables())
        """,
        made,
    )
    text = made.read_text()
    assert text == instruction_table.page_tables(), "python tools/instruction_table.py --write"
    assert "wrong" not in text


def test_all_recorded_forms_are_counted():
    rows = list(instruction_table.arithmetic_rows())
    assert sum(count or 0 for row in rows for count in row[2:]) == 3805
    assert len((ROOT / "tests/recorded/unsupported.txt").read_text().splitlines()) - 1 == sum(
        row[5] or 0 for row in rows
    )
