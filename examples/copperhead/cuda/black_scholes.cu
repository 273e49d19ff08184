// Prices of call and put options. About as much arithmetic as memory traffic: options are loaded by fours, products and
// sums contract, what depends on the rates alone is computed once, and the functions are those of full precision.
__device__ __forceinline__ float normal_cdf(float d)
{
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float tail =
    k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float rest = 0.3989422804f * expf(-0.5f * d * d) * tail;
  return d > 0.0f ? 1.0f - rest : rest;
}

__device__ __forceinline__ void price_option(
  float price, float strike, float t, float rate, float volatility, float drift, float &call, float &put)
{
  const float root = volatility * sqrtf(t);
  const float d1 = (logf(price / strike) + drift * t) / root;
  const float below = normal_cdf(d1 - root), above = normal_cdf(d1);
  const float discounted = strike * expf(-rate * t);
  call = price * above - discounted * below;
  put = discounted * (1.0f - below) - price * (1.0f - above);
}

extern "C" __global__ void __launch_bounds__(256)
black_scholes(const float4 *__restrict__ prices, const float4 *__restrict__ strikes, const float4 *__restrict__ years,
              float rate, float volatility, float4 *__restrict__ calls, float4 *__restrict__ puts, int n)
{
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  const float drift = rate + 0.5f * volatility * volatility;
  for (int i = first; i < n / 4; i += gridDim.x * blockDim.x) {
    const float4 p = prices[i], s = strikes[i], t = years[i];
    float4 call, put;
    price_option(p.x, s.x, t.x, rate, volatility, drift, call.x, put.x);
    price_option(p.y, s.y, t.y, rate, volatility, drift, call.y, put.y);
    price_option(p.z, s.z, t.z, rate, volatility, drift, call.z, put.z);
    price_option(p.w, s.w, t.w, rate, volatility, drift, call.w, put.w);
    calls[i] = call;
    puts[i] = put;
  }
  const int i = n / 4 * 4 + first;
  if (i < n)
    price_option(((const float *)prices)[i], ((const float *)strikes)[i], ((const float *)years)[i], rate, volatility,
                 drift, ((float *)calls)[i], ((float *)puts)[i]);
}
