// Applies the listed rotations to the columns of `rows`, a thread for each; its rows become eigenvectors.
extern "C" __global__ void array_tridiagonal_rotate(int n, int room, const int *states, const R *lists,
                                                    const int *all_turns, R *rows)
{
    int j = blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= n) return;
    R *z = rows + (I)blockIdx.x * n * n + j;
    const int *turns = all_turns + blockIdx.x * 3 * TURNS;
    int listed = states[blockIdx.x * STATE + 2];
    for (int k = 0; k < listed; ++k) {
        int l = turns[3 * k], m = turns[3 * k + 1];
        const R *list = lists + ((I)blockIdx.x * room + turns[3 * k + 2]) * 2;
        R f = z[(I)m * n];
        for (int i = m - 1; i >= l; --i, list += 2) {
            R c = list[0], s = list[1], own = z[(I)i * n];
            z[(I)(i + 1) * n] = s * own + c * f;
            f = c * own - s * f;
        }
        z[(I)l * n] = f;
    }
}
