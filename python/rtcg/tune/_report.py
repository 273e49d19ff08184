"""What a search found, as numbers, tables and pictures."""

import html


class Report:
    """The result of a search.

    Attributes
    ----------
    best : dict or None
        The best configuration; None where none works.
    best_score : float or None
        Its score: seconds of a launch, where the objective is time.
    speedup : tuple of float or None
        How many times as fast as the default it is, and the ends of the 95 % interval, from interleaved rounds.
    trials : list of dict
        All trials, in their order: ``config``, ``score`` or ``failure``, ``samples``, ``registers``, ``occupancy``,
        seconds of compiling and measuring.
    stopped_by : str
        ``"exhausted"``, ``"budget"``, ``"limit"`` or ``"interrupted"``.
    launch : dict or None
        Of a plain function: the keywords ``block`` and ``grid``.
    promised, searched
        Of :func:`refresh`: the time that the store promised in seconds, or None; whether a search followed.
    limit : tuple or None
        Seconds that the device's limits allow, and which one binds: ``"memory"`` or ``"compute"``.
    """

    def __init__(self, found):
        self._found = found
        self.trials = found["trials"]
        self.speedup = found["speedup"]
        self.stopped_by = found["stopped_by"]
        self.limit = found["limit"]
        self.seconds = found["seconds"]
        best = found["best"]
        self.best_trial = None if best is None else self.trials[best]
        default = found["default"]
        self.default_trial = None if default is None else self.trials[default]

    @property
    def best(self):
        """The fastest configuration, a dictionary; None if every trial failed."""
        return None if self.best_trial is None else self.best_trial["config"]

    @property
    def best_score(self):
        """Seconds of the fastest configuration; None if every trial failed."""
        return None if self.best_trial is None else self.best_trial["score"]

    @property
    def failures(self):
        """The trials that failed: ``{kind: [(configuration, message), ...]}``."""
        failures = {}
        for trial in self.trials:
            if trial["failure"] is not None:
                kind, message = trial["failure"]
                failures.setdefault(kind, []).append((trial["config"], message))
        return failures

    @property
    def fraction_of_limit(self):
        """The device's limit over the best time: 1 is the limit itself. None where no limit was stated."""
        return None if self.limit is None or self.best_score is None else self.limit[0] / self.best_score

    def __str__(self):
        return self._found["text"]

    def __repr__(self):
        return f"<Report: {str(self).splitlines()[0]}>"

    def best_so_far(self):
        """Return a list of ``(trial number, seconds, score)`` of the trials that were better than all before."""
        best, steps = float("inf"), []
        for number, trial in enumerate(self.trials, 1):
            if trial["score"] is not None and trial["score"] < best:
                best = trial["score"]
                steps.append((number, trial["at_seconds"], best))
        return steps

    def rows(self):
        """Return the trials as flat dictionaries: a column for each parameter, and what was measured."""
        columns = ("score", "registers", "spill_bytes", "shared_bytes", "occupancy", "compile_seconds", "at_seconds")
        return [
            trial["config"]
            | {name: trial[name] for name in columns}
            | {"failure": trial["failure"][0] if trial["failure"] else None}
            | trial.get("observed", {})
            for trial in self.trials
        ]

    def to_dataframe(self):
        """Return the trials as a pandas DataFrame; needs pandas."""
        import pandas

        return pandas.DataFrame(self.rows())

    def plot(self, path=None):
        """Draw the search: best so far, the effect of each parameter, all configurations. Needs matplotlib.

        Parameters
        ----------
        path : str or path, optional
            Where to save the picture.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from rtcg.tune._plots import plot_report

        return plot_report(self, path)

    def _repr_html_(self):
        rows = sorted((row for row in self.rows() if row["score"] is not None), key=lambda row: row["score"])[:10]
        text = f"<pre>{html.escape(str(self))}</pre>"
        if not rows:
            return text
        names = list(rows[0])
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{_cell(row.get(name))}</td>" for name in names) + "</tr>" for row in rows)
        return f"{text}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value):
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else html.escape(str(value))
