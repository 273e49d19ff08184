// I - factor v v^H, which makes a column zero but for its first element: v is the column divided by `divisor`, with 1 in
// place of its first element, which becomes `beta`.
struct Reflection { T factor, divisor; R beta; bool is_there; };

// The reflection of a column that begins with alpha; `rest` is the sum of the other squares, divided by that of `scale`.
__device__ Reflection make_reflector(T alpha, R rest, R scale)
{
    if (rest == 0 && imag_of(alpha) == 0) return {make_element(0, 0), make_element(1, 0), real_of(alpha), false};
    R norm = scale * sqrt(norm_squared(scale == 1 ? alpha : alpha / make_element(scale, 0)) + rest);
    R beta = real_of(alpha) > 0 ? -norm : norm;
    T factor = make_element((beta - real_of(alpha)) / beta, -imag_of(alpha) / beta);
    return {factor, make_element(real_of(alpha) - beta, imag_of(alpha)), beta, true};
}
