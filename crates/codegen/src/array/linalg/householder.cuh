// I - factor v v^H, which makes a column zero but for its first element: v is the column divided by `divisor`, with 1 in
// place of its first element, which becomes `beta`.
struct Reflection { T factor, divisor; R beta; bool is_there; };

// The reflection of a column that begins with alpha; `rest` is the sum of the other squares, divided by that of `scale`.
__device__ Reflection reflection_of(T alpha, R rest, R scale)
{
    if (rest == 0 && imag_of(alpha) == 0) return {made_of(0, 0), made_of(1, 0), real_of(alpha), false};
    R norm = scale * sqrt(square_of(scale == 1 ? alpha : alpha / made_of(scale, 0)) + rest);
    R beta = real_of(alpha) > 0 ? -norm : norm;
    T factor = made_of((beta - real_of(alpha)) / beta, -imag_of(alpha) / beta);
    return {factor, made_of(real_of(alpha) - beta, imag_of(alpha)), beta, true};
}
