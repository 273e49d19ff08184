"""CUDA C of recurrence analysis: dimension, delay, norm, radius and Theiler window are literals of the source.

Two kernels of one thread a line. ``vertical`` walks down columns j of the recurrence matrix and counts runs of
recurrent and of other rows i; ``diagonal`` walks along elements (i, i + k). Both make 32 elements a word of bits, in a
loop without branches, and take runs from words. Along a diagonal, an embedded distance is made from `dimension`
differences of scalars, of which one is new.

Where there are too few lines for the device, blocks of a column of the grid have a slice of the same lines each. A
thread counts the runs that begin in its slice, and goes on beyond the slice until the last of them ends.
"""

import functools

from rtcg import template, tune

SHORT = 512
"""Lines shorter than this are counted in shared memory."""

TEXT = """
typedef unsigned long long count_t;
enum { SHORT = {{ short }}, THREADS = {{ threads }}, TILE = {{ tile }}, COLUMNS = {{ columns_of_thread }} };

{% for s in systems %}{% set k = s.index %}
enum { DIMENSION{{ k }} = {{ s.dimension }}, DELAY{{ k }} = {{ s.delay }}, REACH{{ k }} = {{ s.reach }} };
// A difference of scalars as the norm {{ s.norm }} sees it, rounded alike wherever it is computed.
#define MEASURE{{ k }}(x) {{ "__fmul_rn(x, x)" if s.norm == "euclidean" else "fabsf(x)" }}
// Whether {{ s.dimension }} of them, M(t), mean near points.
#define NEAR{{ k }}(M) ({{ s.near }})
{% endfor %}
#define ALL_NEAR(M) (true{% for s in systems %} & NEAR{{ s.index }}(M##{{ s.index }}){% endfor %})

// Adds a run of `length` equal elements to the histogram of its colour: 0 for the other elements, 1 for recurrent ones.
// Runs that another slice counts have a negative length.
__device__ void count_run(unsigned (*counts)[SHORT], count_t *lines, int longest, int colour, int length)
{
  if (length <= 0) return;
  if (length < SHORT) atomicAdd(&counts[colour][length], 1u);
  else atomicAdd(&lines[colour * (longest + 1ll) + length], 1ull);
}

// Takes the next `valid` elements of a line, bit 0 first: runs that end are counted, the last one goes on. Beyond the
// slice only a run that began in it is of interest.
__device__ __forceinline__ void walk(unsigned bits, int valid, bool is_beyond, int &colour, int &length,
  unsigned (*counts)[SHORT], count_t *lines, int longest)
{
  while (!is_beyond || length > 0) {
    const unsigned change = colour ? ~bits : bits;
    const int same = min(change ? __ffs(change) - 1 : 32, valid);
    length += same;
    if (same == valid) return;
    count_run(counts, lines, longest, colour, length);
    colour ^= 1;
    length = 0;
    bits >>= same;
    valid -= same;
  }
}

__device__ void clear_counts(unsigned (*counts)[SHORT])
{
  for (int i = threadIdx.x; i < 2 * SHORT; i += THREADS) counts[i / SHORT][i % SHORT] = 0;
  __syncthreads();
}

__device__ void add_counts(unsigned (*counts)[SHORT], count_t *lines, int longest)
{
  __syncthreads();
  for (int i = threadIdx.x; i < 2 * SHORT; i += THREADS) {
    const unsigned count = counts[i / SHORT][i % SHORT];
    if (count) atomicAdd(&lines[i / SHORT * (longest + 1ll) + i % SHORT], (count_t)count);
  }
}

// Copies `size` scalars of a series from `first` on; zeros where it has ended.
__device__ void load(float *to, int size, const float *series, int first, int end)
{
  for (int i = threadIdx.x; i < size; i += THREADS) to[i] = first + i < end ? series[first + i] : 0.0f;
}

// Each thread walks down COLUMNS columns of the recurrence matrix, from column `first` to before `last`.
extern "C" __global__ __launch_bounds__(THREADS) void vertical(
{% for s in systems %}{% set k = s.index %}
  const float *row{{ k }}, const float *column{{ k }},
{% endfor %}
  int rows, int columns, int first, int last, int slice, count_t *lines, unsigned *plot)
{
  __shared__ unsigned counts[2][SHORT];
  clear_counts(counts);
  const int begin = blockIdx.y * slice, end = min(begin + slice, rows);
  int column[COLUMNS], colour[COLUMNS], length[COLUMNS];
{% for s in systems %}{% set k = s.index %}
  __shared__ float tile{{ k }}[TILE + REACH{{ k }}];
  float point{{ k }}[COLUMNS][DIMENSION{{ k }}];
{% endfor %}
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) {
    colour[c] = length[c] = 0;
    column[c] = first + (blockIdx.x * COLUMNS + c) * THREADS + threadIdx.x;
{% for s in systems %}{% set k = s.index %}
#pragma unroll
    for (int t = 0; t < DIMENSION{{ k }}; ++t)
      point{{ k }}[c][t] = column{{ k }}[min(column[c], last - 1) + t * DELAY{{ k }}];
{% endfor %}
    if (begin > 0) {
{% for s in systems %}{% set k = s.index %}
#define ABOVE{{ k }}(t) MEASURE{{ k }}(row{{ k }}[begin - 1 + t * DELAY{{ k }}] - point{{ k }}[c][t])
{% endfor %}
      colour[c] = ALL_NEAR(ABOVE){{ " && abs(begin - 1 - column[c]) >= %d"|format(theiler) if theiler }};
      length[c] = -rows;
    }
  }
  for (int base = begin; base < rows; base += TILE) {
    bool is_open = base < end;
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) is_open |= length[c] > 0;
    if (!__syncthreads_or(is_open)) break;
{% for s in systems %}{% set k = s.index %}
    load(tile{{ k }}, TILE + REACH{{ k }}, row{{ k }}, base, rows + REACH{{ k }});
{% endfor %}
    __syncthreads();
    for (int word = 0; word < TILE && base + word < rows; word += 32) {
      const int i = base + word, valid = min(32, rows - i);
      unsigned bits[COLUMNS] = {};
#pragma unroll
      for (int r = 0; r < 32; ++r)
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
{% for s in systems %}{% set k = s.index %}
#define M{{ k }}(t) MEASURE{{ k }}(tile{{ k }}[word + r + t * DELAY{{ k }}] - point{{ k }}[c][t])
{% endfor %}
          if (ALL_NEAR(M)) bits[c] |= 1u << r;
        }
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        const int j = column[c];
{% if theiler %}
        // Rows i + r with |i + r - j| < {{ theiler }} are no recurrences.
        if (i < j + {{ theiler }} && i + 31 > j - {{ theiler }})
          for (int r = 0; r < 32; ++r)
            if (abs(i + r - j) < {{ theiler }}) bits[c] &= ~(1u << r);
{% endif %}
        if (j >= last) continue;
        if (plot && i < end) plot[i / 32 * (long long)columns + j] = bits[c];
        walk(bits[c], valid, i >= end, colour[c], length[c], counts, lines, rows);
      }
    }
  }
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c)
    if (column[c] < last) count_run(counts, lines, rows, colour[c], length[c]);
  add_counts(counts, lines, rows);
}

// Each thread walks along a diagonal: elements (i, i + k) for all i, with k from `first` to before `last`.
extern "C" __global__ __launch_bounds__(THREADS) void diagonal(
{% for s in systems %}{% set k = s.index %}
  const float *row{{ k }}, const float *column{{ k }},
{% endfor %}
  int rows, int columns, int first, int last, int slice, count_t *lines)
{
  __shared__ unsigned counts[2][SHORT];
  clear_counts(counts);
{% for s in systems %}{% set k = s.index %}
  __shared__ float rows{{ k }}[TILE + REACH{{ k }}];
  __shared__ float columns{{ k }}[TILE + REACH{{ k }} + THREADS];
{% if s.carries %}
  float d{{ k }}[32 + REACH{{ k }}];
{% endif %}
#define D{{ k }}(i) MEASURE{{ k }}(rows{{ k }}[i] - columns{{ k }}[threadIdx.x + i])
{% endfor %}
  const int longest = min(rows, columns), k0 = first + blockIdx.x * THREADS, k = k0 + threadIdx.x;
  const int steps = k < last ? min(rows, columns - k) : 0, most = min(rows, columns - k0);
  const int begin = blockIdx.y * slice, end = begin + slice;
  int colour = 0, length = 0;
  if (begin > 0 && begin < steps) {
{% for s in systems %}{% set k = s.index %}
#define BEFORE{{ k }}(t) \
  MEASURE{{ k }}(row{{ k }}[begin - 1 + t * DELAY{{ k }}] - column{{ k }}[begin - 1 + k + t * DELAY{{ k }}])
{% endfor %}
    colour = ALL_NEAR(BEFORE);
    length = -longest;
  }
  for (int base = begin; base < most; base += TILE) {
    if (!__syncthreads_or(base < end || length > 0)) break;
{% for s in systems %}{% set k = s.index %}
    load(rows{{ k }}, TILE + REACH{{ k }}, row{{ k }}, base, rows + REACH{{ k }});
    load(columns{{ k }}, TILE + REACH{{ k }} + THREADS, column{{ k }}, base + k0,
         columns + REACH{{ k }});
{% endfor %}
    __syncthreads();
{% for s in systems if s.carries %}{% set k = s.index %}
#pragma unroll
    for (int r = 0; r < REACH{{ k }}; ++r) d{{ k }}[32 + r] = D{{ k }}(r);
{% endfor %}
    for (int word = 0; word < TILE && base + word < most; word += 32) {
      unsigned bits = 0;
{% for s in systems if s.carries %}{% set k = s.index %}
#pragma unroll
      for (int r = 0; r < 32 + REACH{{ k }}; ++r)
        d{{ k }}[r] = r < REACH{{ k }} ? d{{ k }}[32 + r] : D{{ k }}(word + r);
{% endfor %}
#pragma unroll
      for (int r = 0; r < 32; ++r) {
{% for s in systems %}{% set k = s.index %}
{% if s.carries %}
#define C{{ k }}(t) d{{ k }}[r + t * DELAY{{ k }}]
{% else %}
#define C{{ k }}(t) D{{ k }}(word + r + t * DELAY{{ k }})
{% endif %}
{% endfor %}
        if (ALL_NEAR(C)) bits |= 1u << r;
      }
      const int valid = min(32, steps - base - word);
      if (valid > 0) walk(bits, valid, base + word >= end, colour, length, counts, lines, longest);
    }
  }
  count_run(counts, lines, longest, colour, length);
  add_counts(counts, lines, longest);
}
"""

_TEMPLATE = template.Template(TEXT)

SPACE = tune.Space(threads=[128, 64, 256], tile=[512, 256, 1024], columns_of_thread=[2, 1, 4])
"""What is tuned; ``columns_of_thread`` matters for columns alone."""


@functools.lru_cache(maxsize=32)
def walkers(embeddings, theiler):
    """The kernels ``vertical`` and ``diagonal`` for a tuple of embeddings, in all of which pairs must be near."""
    source = functools.partial(_source, embeddings, theiler)
    return [
        tune.Kernel(source, "vertical", SPACE, block="threads",
                    grid=("ceil_div(last - first, threads * columns_of_thread)", "ceil_div(rows, slice)")),
        tune.Kernel(source, "diagonal", SPACE, block="threads",
                    grid=("ceil_div(last - first, threads)", "ceil_div(min(rows, columns), slice)")),
    ]  # fmt: skip


def _source(embeddings, theiler, **config):
    """The source of both kernels."""
    systems = [_system(index, embedding) for index, embedding in enumerate(embeddings)]
    return _TEMPLATE.render(systems=systems, theiler=theiler, short=SHORT, **config)


def _system(index, embedding):
    """What the template has to know of one embedded series (or pair of them)."""
    reach = (embedding.dimension - 1) * embedding.delay
    bound = embedding.radius**2 if embedding.norm == "euclidean" else embedding.radius
    bound = template.render("{{ x|literal('float32') }}", x=float(bound))
    terms = [f"M({t})" for t in range(embedding.dimension)]
    near = " & ".join(f"({term} < {bound})" for term in terms)
    return {
        "index": index, "dimension": embedding.dimension, "delay": embedding.delay, "norm": embedding.norm,
        "reach": reach, "near": near if embedding.norm == "max" else f"{' + '.join(terms)} < {bound}",
        "carries": 0 < reach <= 32,
    }  # fmt: skip
