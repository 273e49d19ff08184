from typing import Any

from rtcg.tune._report import Report
from rtcg.tune._run import StoredProblem

def tune(target: Any, *args: Any, **options: Any) -> Report: ...
def stored_launches(kernel: Any, n_elements: int) -> StoredProblem: ...
