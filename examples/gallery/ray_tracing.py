"""Spheres, by ray tracing

Spheres are structures in constant memory, filled from a NumPy array of the same layout. Each thread follows a ray, its
shadow and its reflection. NumPy finds which sphere each pixel sees for comparison.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.numpy as rnp
from rtcg.compiler import SourceModule

WIDTH, HEIGHT, BOUNCES = 480, 320, 3

SPHERE = np.dtype([("centre", "f4", 3), ("radius", "f4"), ("colour", "f4", 3), ("mirror", "f4")])
SPHERES = np.array(
    [
        ((0, -1000, 6), 999, (0.6, 0.6, 0.55), 0.1),
        ((0, 0, 6), 1, (0.9, 0.3, 0.2), 0.3),
        ((-2.1, -0.2, 5), 0.8, (0.2, 0.5, 0.9), 0.3),
        ((1.9, -0.3, 4.5), 0.7, (0.3, 0.8, 0.4), 0.2),
        ((0.6, -0.7, 3.6), 0.3, (0.95, 0.8, 0.3), 0.5),
    ],
    SPHERE,
)

SOURCE = f"""
struct Sphere {{ float3 centre; float radius; float3 colour; float mirror; }};
__constant__ Sphere spheres[{len(SPHERES)}];

__device__ float3 operator+(float3 a, float3 b) {{ return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }}
__device__ float3 operator*(float s, float3 a) {{ return make_float3(s * a.x, s * a.y, s * a.z); }}
__device__ float dot(float3 a, float3 b) {{ return a.x * b.x + a.y * b.y + a.z * b.z; }}
__device__ float3 unit(float3 a) {{ return rsqrtf(dot(a, a)) * a; }}

// The index of the first sphere that a ray of unit length meets, and how far away; -1 if there is none.
__device__ int first_hit(float3 from, float3 along, float *distance)
{{
    int hit = -1;
    *distance = 1e9f;
    for (int k = 0; k < {len(SPHERES)}; ++k) {{
        float3 to = spheres[k].centre + -1.0f * from;
        float b = dot(to, along), d = b * b - dot(to, to) + spheres[k].radius * spheres[k].radius;
        float t = d > 0 ? b - sqrtf(d) : -1;
        if (t > 2e-3f && t < *distance) {{ *distance = t; hit = k; }}
    }}
    return hit;
}}

extern "C" __global__ void trace(float3 *picture, int *seen)
{{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float3 from = make_float3(0, 0, 0), light = unit(make_float3(-2, 3, -2)), sum = from;
    float3 along = unit(make_float3((x - {WIDTH / 2}f) / {HEIGHT}, ({HEIGHT / 2}f - y) / {HEIGHT}, 1));
    float weight = 1, distance;
    for (int bounce = 0; bounce < {BOUNCES}; ++bounce) {{
        int hit = first_hit(from, along, &distance);
        if (bounce == 0) seen[y * {WIDTH} + x] = hit;
        if (hit < 0) {{
            sum = sum + weight * make_float3(0.5f, 0.7f, 1);
            break;
        }}
        Sphere s = spheres[hit];
        from = from + distance * along;
        float3 normal = 1 / s.radius * (from + -1.0f * s.centre);
        float lit = first_hit(from, light, &distance) < 0 ? fmaxf(dot(normal, light), 0) : 0;
        sum = sum + weight * (1 - s.mirror) * (0.2f + 0.8f * lit) * s.colour;
        weight *= s.mirror;
        along = along + -2 * dot(along, normal) * normal;
    }}
    picture[y * {WIDTH} + x] = sum;
}}
"""


def seen_on_the_host():
    """The sphere that each pixel sees, in double precision."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    along = np.stack([(x - WIDTH / 2) / HEIGHT, (HEIGHT / 2 - y) / HEIGHT, np.ones(x.shape)], -1)
    along /= np.linalg.norm(along, axis=-1, keepdims=True)
    centre, radius = SPHERES["centre"].astype(float), SPHERES["radius"].astype(float)
    b = along @ centre.T
    d = b**2 - (centre**2).sum(1) + radius**2
    distance = np.where((d > 0) & (b > np.sqrt(np.maximum(d, 0))), b - np.sqrt(np.maximum(d, 0)), np.inf)
    return np.where(np.isfinite(distance.min(-1)), distance.argmin(-1), -1)


def main(picture):
    """Trace, compare what is seen with NumPy and save the picture."""
    module = SourceModule(SOURCE, no_extern_c=True)
    module.get_global_array("spheres", SPHERE, len(SPHERES)).set(SPHERES)
    colours, seen = rnp.empty((HEIGHT, WIDTH, 3), np.float32), rnp.empty((HEIGHT, WIDTH), np.int32)
    module.get_function("trace")(colours, seen, block=(16, 16, 1), grid=(WIDTH // 16, HEIGHT // 16))
    # Rounding may differ for pixels at the edge of a sphere.
    assert np.mean(seen.get() != seen_on_the_host()) < 1e-3 and set(np.unique(seen.get())) == set(range(-1, 5))
    matplotlib.image.imsave(picture, np.clip(colours.get(), 0, 1) ** (1 / 2.2))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "ray_tracing.png")
