"""The kernels that are not patterns of the library: differences of half discs, and affinities along lines."""

import functools
import math

from rtcg.compiler import SourceModule

#: A warp has a pixel. Labels of the pixels of a disc are counted by sector; half a disc is half of the sectors, so that
#: one count serves all orientations. Sector s begins at the angle s * pi / ORIENTATIONS.
HALF_DISCS = r"""
constexpr int BINS = %(bins)d, ORIENTATIONS = %(orientations)d, SECTORS = 2 * ORIENTATIONS;
constexpr int PIXELS = %(pixels)d, WARPS = 4;
__constant__ int moves[PIXELS] = { %(moves)s };  // rows, columns and sectors, 8 + 8 + 8 bits

__device__ int inside(int i, int n) { return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i; }

extern "C" __global__ void half_discs(float *out, const int *labels, int rows, int columns)
{
  __shared__ int counts[WARPS][SECTORS][BINS];
  const int lane = threadIdx.x, warp = threadIdx.y;
  for (int pixel = blockIdx.x * WARPS + warp; pixel < rows * columns; pixel += gridDim.x * WARPS) {
    int (*count)[BINS] = counts[warp];
    for (int i = lane; i < SECTORS * BINS; i += 32) count[0][i] = 0;
    __syncwarp();
    const int row = pixel / columns, column = pixel %% columns;
    for (int i = lane; i < PIXELS; i += 32) {
      const int move = moves[i];
      const int y = inside(row + (signed char)(move >> 16), rows);
      const int x = inside(column + (signed char)(move >> 8), columns);
      atomicAdd(&count[move & 255][labels[y * columns + x]], 1);
    }
    __syncwarp();
    float difference[ORIENTATIONS] = {};
    for (int bin = lane; bin < BINS; bin += 32) {
      // Of brightness and colour adjacent bins are alike.
      auto smooth = [&](int sector) -> float {
        const int *own = count[sector];
        if (!%(smooth)d) return own[bin];
        return 0.5f * own[bin] + 0.25f * (own[bin ? bin - 1 : 0] + own[bin + 1 < BINS ? bin + 1 : bin]);
      };
      float left = 0, right = 0;
      for (int s = 0; s < ORIENTATIONS; ++s) { left += smooth(s); right += smooth(s + ORIENTATIONS); }
      #pragma unroll
      for (int o = 0; o < ORIENTATIONS; ++o) {
        if (left + right > 0) difference[o] += (left - right) * (left - right) / (left + right);
        const float moved = smooth(o + ORIENTATIONS) - smooth(o);
        left += moved;
        right -= moved;
      }
    }
    #pragma unroll
    for (int o = 0; o < ORIENTATIONS; ++o) {
      for (int step = 16; step > 0; step /= 2) difference[o] += __shfl_xor_sync(~0u, difference[o], step);
      // Chi-square of histograms that each sum to 1; a disc has PIXELS pixels.
      if (lane == 0) out[o * rows * columns + pixel] = difference[o] / PIXELS;
    }
    __syncwarp();
  }
}
"""

#: Diagonals of the affinities of pixels: exp(-strongest contour between them / RHO).
AFFINITIES = r"""
struct line { int dy, dx, first, end; };
constexpr int LINES = %(count)d;
__constant__ line lines[LINES] = { %(lines)s };
__constant__ int steps[] = { %(steps)s };  // rows and columns from the pixel

extern "C" __global__ void affinities(float *data, const float *strength, int rows, int columns)
{
  const int at = blockIdx.x * blockDim.x + threadIdx.x, size = rows * columns;
  if (at >= size) return;
  const int row = at / columns, column = at %% columns;
  for (int k = blockIdx.y; k < LINES; k += gridDim.y) {
    const line to = lines[k];
    const bool exists = (unsigned)(row - to.dy) < rows && (unsigned)(column - to.dx) < columns;
    float most = 0;
    for (int s = to.first; exists && s < to.end; ++s) {
      const int y = row - (steps[s] >> 8), x = column - (signed char)steps[s];
      most = fmaxf(most, strength[y * columns + x]);
    }
    data[k * size + at] = exists ? expf(-most * %(inverse_rho)ff) : 0.0f;
  }
}

extern "C" __global__ void normalise(float *data, const float *degree, int rows, int columns)
{
  const int at = blockIdx.x * blockDim.x + threadIdx.x, size = rows * columns;
  if (at >= size) return;
  for (int k = blockIdx.y; k < LINES; k += gridDim.y) {
    const int other = at - lines[k].dy * columns - lines[k].dx;
    if (other >= 0 && other < size) data[k * size + at] *= rsqrtf(degree[at] * degree[other]);
  }
}
"""


@functools.cache
def half_discs(radius, bins, orientations, smooth):
    """The kernel for discs of a radius; all but the image's size are constants."""
    moves = []
    for y in range(-radius, radius + 1):
        for x in range(-radius, radius + 1):
            if (y or x) and y * y + x * x <= radius * radius:
                # Rows point down, angles up; pixels on a diameter go to both halves in turns.
                sector = int(math.atan2(-y, x) % (2 * math.pi) / math.pi * orientations + 1e-9) % (2 * orientations)
                moves.append((y & 255) << 16 | (x & 255) << 8 | sector)
    text = HALF_DISCS % {
        "bins": bins, "orientations": orientations, "pixels": len(moves), "moves": ", ".join(map(str, moves)),
        "smooth": smooth,
    }  # fmt: skip
    return SourceModule(text, no_extern_c=True).get_function("half_discs")


def neighbours(radius):
    """Vectors to the pixels of a disc, without the middle."""
    side = range(-radius, radius + 1)
    return [(y, x) for y in side for x in side if 0 < y * y + x * x <= radius * radius]


@functools.cache
def affinities(radius, rho):
    """The kernels of affinities to the pixels of a disc."""
    lines, steps = [], []
    for move in neighbours(radius):
        # From the later pixel to the earlier one, so that a line is the same from both ends.
        first, forth = len(steps), max(move, (-move[0], -move[1]))
        longest = max(map(abs, forth))
        for step in range(longest + 1):
            between = [int(math.copysign(math.floor(abs(v) * step / longest + 0.5), v)) for v in forth]
            y, x = (b if move == forth else b - v for b, v in zip(between, forth, strict=True))
            steps.append(y << 8 | x & 255)
        y, x = move
        lines.append(f"{{{y}, {x}, {first}, {len(steps)}}}")
    text = AFFINITIES % {
        "count": len(lines), "lines": ", ".join(lines), "steps": ", ".join(map(str, steps)),
        "inverse_rho": 1 / rho,
    }  # fmt: skip
    module = SourceModule(text, no_extern_c=True)
    return module.get_function("affinities"), module.get_function("normalise")
