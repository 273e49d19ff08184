"""A thousand weathers

Differential equations are given as text, one for each variable. A template writes from them a kernel that integrates a
trajectory for each thread (Runge-Kutta of order four). All begin almost at the same point, and end everywhere on
Lorenz's butterfly.
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg import template
from rtcg.compiler import SourceModule

EQUATIONS = {"x": "10.0 * (y - x)", "y": "x * (28.0 - z) - y", "z": "x * y - 8.0 / 3.0 * z"}
TRAJECTORIES, STEPS, DT = 1024, 2500, 0.01

SOURCE = template.render(
    """
__global__ void integrate({% for v in names %}double *{{ v }}s, {% endfor %}int steps)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
{% for v in names %}
  double {{ v }}0 = {{ v }}s[i];
{% endfor %}
  for (int step = 0; step < steps; ++step) {
    double {% for v in names %}{{ v }} = {{ v }}0, {{ v }}_sum = 0{{ "" if loop.last else ", " }}{% endfor %};
{% for weight, ahead in [(1, 0.5), (2, 0.5), (2, 1), (1, 0)] %}
    {
{% for v, formula in equations|items %}
      const double d{{ v }} = {{ formula }};
{% endfor %}
{% for v in names %}
      {{ v }}_sum += {{ weight }} * d{{ v }};
      {{ v }} = {{ v }}0 + {{ ahead * dt }} * d{{ v }};
{% endfor %}
    }
{% endfor %}
{% for v in names %}
    {{ v }}0 += {{ dt / 6 }} * {{ v }}_sum;
{% endfor %}
  }
{% for v in names %}
  {{ v }}s[i] = {{ v }}0;
{% endfor %}
}
""",
    equations=EQUATIONS,
    names=list(EQUATIONS),
    dt=DT,
)


def on_the_host(state, steps):
    """The same with NumPy."""
    slopes = lambda s: np.array([eval(e, {}, dict(zip(EQUATIONS, s, strict=True))) for e in EQUATIONS.values()])  # noqa: E731
    for _ in range(steps):
        a = slopes(state)
        b = slopes(state + DT / 2 * a)
        c = slopes(state + DT / 2 * b)
        d = slopes(state + DT * c)
        state = state + DT / 6 * (a + 2 * b + 2 * c + d)
    return state


def main(picture):
    """Integrate, compare the beginning with NumPy and draw where the trajectories are at three times."""
    integrate = SourceModule(SOURCE).get_function("integrate")
    start = np.ones((3, TRAJECTORIES)) + 1e-3 * np.random.default_rng(6).random((3, TRAJECTORIES))
    state = [rnp.to_gpu(s) for s in start]
    run = lambda steps: integrate(*state, steps, block=(64, 1, 1), grid=(TRAJECTORIES // 64, 1))  # noqa: E731
    run(200)
    early = np.array([s.get() for s in state])
    assert np.abs(early - on_the_host(start, 200)).max() < 1e-8
    run(STEPS - 200)
    late = np.array([s.get() for s in state])
    assert early.std(1).max() < 0.1 and late.std(1).min() > 4 and np.abs(late).max() < 60
    figure, axes = plt.subplots(figsize=(6, 5))
    axes.scatter(late[0], late[2], s=2, label=f"after {STEPS * DT:.0f}")
    axes.scatter(early[0], early[2], s=12, label=f"after {200 * DT:.0f}")
    axes.set(xlabel="x", ylabel="z")
    axes.legend()
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "lorenz.png")
