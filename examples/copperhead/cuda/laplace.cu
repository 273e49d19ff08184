// A step of Jacobi's iteration. Limited by memory: a thread walks down a strip of a column and keeps three rows of it in
// registers, so that only the elements to the left and right are read again, from the first-level cache. Nothing divides.
const int ROWS = 8;

extern "C" __global__ void __launch_bounds__(128)
step(const double *__restrict__ u, double *__restrict__ out, int ny, int nx, double dx2, double dy2)
{
  const int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * ROWS, end = min(first + ROWS, ny);
  if (x >= nx) return;
  const bool is_edge = x == 0 || x == nx - 1;
  const double scale = 1 / (2 * (dx2 + dy2)), across = dy2 * scale, along = dx2 * scale;
  long long at = (long long)first * nx + x;
  double above = first > 0 ? u[at - nx] : 0, here = u[at];
  #pragma unroll
  for (int k = 0; k < ROWS; ++k) {
    const int y = first + k;
    if (y >= end) break;
    const double below = y + 1 < ny ? u[at + nx] : 0;
    out[at] = is_edge || y == 0 || y == ny - 1
      ? here : (u[at - 1] + u[at + 1]) * across + (above + below) * along;
    above = here;
    here = below;
    at += nx;
  }
}
