"""Pictures of searches, with matplotlib."""

_MS = 1e3


def plot_report(report, path=None):
    """Draw a report: best so far over time, the effect of each parameter, and all scores in their order."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Report.plot() draws with matplotlib: pip install matplotlib") from error
    scored = [(number, trial) for number, trial in enumerate(report.trials, 1) if trial["score"] is not None]
    if not scored:
        raise ValueError("no trial has a score: there is nothing to draw")
    effects = _parameter_scores(scored)
    columns = max(2, min(4, len(effects)))
    rows = 1 + -(-len(effects) // columns)
    figure = Figure(figsize=(3.4 * columns, 2.9 * rows), layout="constrained")
    grid = figure.add_gridspec(rows, columns)
    _draw_progress(figure.add_subplot(grid[0, :]), report, scored)
    for place, (name, values) in enumerate(effects):
        _draw_effect(figure.add_subplot(grid[1 + place // columns, place % columns]), name, values)
    if path is not None:
        figure.savefig(path, dpi=110)
    return figure


def _parameter_scores(scored):
    """``[(name, {value: [milliseconds, ...]}), ...]`` of the parameters that had several values."""
    effects = []
    for name in scored[0][1]["config"]:
        values = {}
        for _, trial in scored:
            values.setdefault(trial["config"][name], []).append(trial["score"] * _MS)
        if len(values) > 1:
            effects.append((name, values))
    return effects


def _draw_progress(axes, report, scored):
    axes.plot([number for number, _ in scored], [trial["score"] * _MS for _, trial in scored], ".", alpha=0.5,
              label="tried")  # fmt: skip
    steps = report.best_so_far()
    numbers = [step[0] for step in steps] + [len(report.trials)]
    best = [step[2] * _MS for step in steps] + [steps[-1][2] * _MS]
    axes.step(numbers, best, where="post", label="best so far")
    if report.default_trial is not None and report.default_trial["score"] is not None:
        axes.axhline(report.default_trial["score"] * _MS, linestyle="--", color="gray", label="default")
    if report.limit is not None:
        axes.axhline(report.limit[0] * _MS, linestyle=":", color="black", label=f"limit ({report.limit[1]})")
    failed = [number for number, trial in enumerate(report.trials, 1) if trial["failure"] is not None]
    if failed:
        axes.plot(failed, [axes.get_ylim()[1]] * len(failed), "x", color="tab:red", label="failed")
    axes.set(xlabel="configurations tried", ylabel="ms", yscale="log", title=str(report).splitlines()[0][:110])
    axes.title.set_fontsize(9)
    axes.legend(fontsize=8)


def _draw_effect(axes, name, values):
    ordered = sorted(values) if all(isinstance(value, (int, float)) for value in values) else list(values)
    axes.boxplot([values[value] for value in ordered], showfliers=False)
    axes.plot(range(1, len(ordered) + 1), [min(values[value]) for value in ordered], "o-", markersize=3)
    axes.set_xticks(range(1, len(ordered) + 1), [str(value) for value in ordered], fontsize=7, rotation=45)
    axes.set(title=name, ylabel="ms", yscale="log")
