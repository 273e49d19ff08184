//! The generator of reductions: `reduce_expr` over `a` and `b` of `map_expr` over `i`.
//!
//! *Full* reductions are one launch. Each thread folds its elements, each block its threads (shuffles
//! inside full warps, then shared memory), and the block that takes the last ticket folds the blocks'
//! results. A block publishes its result by store, fence, atomic; the last block reads by atomic, fence,
//! loads. The ticket wraps to zero by itself, so the next launch finds it as this one did.
//!
//! *Axis* reductions give each output a group of threads of one block.
//!
//! The order in which elements are combined is not defined: `reduce_expr` must be associative and
//! commutative, and `neutral` its neutral element.

use crate::carg::{Argument, CType};
use crate::pointwise::{Access, Pointwise, put_snippet};
use crate::snippet::ElementUse;
use std::fmt::Write;

/// Threads of a block of every kernel here.
pub const REDUCE_THREADS: u32 = 256;

/// A reduction as the user describes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// Name of the kernel.
    pub name: String,
    /// Parameters.
    pub arguments: Vec<Argument>,
    /// Type of the result and of everything in between.
    pub out: CType,
    /// The neutral element, a C expression.
    pub neutral: String,
    /// Combines `a` and `b`.
    pub reduce_expr: String,
    /// The value of element `i`.
    pub map_expr: String,
    /// Source before the kernel.
    pub preamble: String,
}

/// How the threads of a block share the work of an axis reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AxisShape {
    /// Dimensions of the outputs, after joining.
    pub kept: usize,
    /// Dimensions that are reduced, after joining.
    pub reduced: usize,
    /// Threads for one output; a power of two up to [`REDUCE_THREADS`].
    pub team: u32,
    /// Neighbouring threads take neighbours along the reduced axes, else neighbouring outputs.
    pub along: bool,
}

impl Reduction {
    /// The map expression as an elementwise snippet, which decides how arrays may be accessed.
    pub fn map(&self) -> Pointwise {
        Pointwise {
            name: self.name.clone(),
            arguments: self.arguments.iter().map(|a| Argument { is_const: a.is_vector, ..a.clone() }).collect(),
            operation: self.map_expr.clone(),
            preamble: self.preamble.clone(),
            ..Pointwise::default()
        }
    }

    /// The kernel that reduces everything to one value. Parameters: the result's address, the arguments,
    /// what [`Pointwise::source`] adds for this access, then an array of one value per block and the
    /// address of the ticket.
    pub fn full_source(&self, access: &Access) -> String {
        let map = self.map();
        let mut out = String::new();
        self.put_head(&mut out, &map, access);
        let last =
            if matches!(access, Access::Strided { .. }) { "const rtcg::layout rtcg_l" } else { "unsigned long n" };
        self.put_signature(&mut out, &[last, "rtcg_out_type *rtcg_partials", "unsigned *rtcg_ticket"]);
        out.push_str("{\n");
        map.put_names(&mut out, access);
        self.put_reduce(&mut out);
        out.push_str("  rtcg_out_type rtcg_acc = rtcg_neutral;\n");
        if matches!(access, Access::Flat { .. }) {
            self.put_chunks(&mut out);
        } else {
            map.put_loop(&mut out, access, &|out| self.put_step(out));
        }
        out.push_str(FULL_TAIL);
        out
    }

    /// The kernel that reduces over some axes. Parameters: the result's address, the arguments, and the
    /// structure that [`axis_layout_bytes`] fills.
    pub fn axis_source(&self, shape: &AxisShape) -> String {
        let map = self.map();
        let mut out = String::new();
        let strided = vec![true; self.arguments.len()];
        self.put_head(&mut out, &map, &Access::Strided { ndim: 1, strided, small: true });
        let arrays = self.arguments.iter().filter(|a| a.is_vector).count();
        let (kept, reduced, rows) = (shape.kept, shape.reduced, arrays + 2);
        let _ = writeln!(
            out,
            "namespace rtcg {{ struct axes {{ unsigned long outputs, length; long kept[{kept}], reduced[{reduced}];\n\
             \x20 long kept_strides[{rows}][{kept}], reduced_strides[{rows}][{reduced}]; }}; }}"
        );
        self.put_signature(&mut out, &["const rtcg::axes rtcg_l"]);
        let team = shape.team;
        let group = REDUCE_THREADS / team;
        let (lane, output) = if shape.along {
            (format!("threadIdx.x % {team}"), format!("threadIdx.x / {team}"))
        } else {
            (format!("threadIdx.x / {group}"), format!("threadIdx.x % {group}"))
        };
        let _ = write!(
            out,
            "{{\n  const unsigned rtcg_lane = {lane}, rtcg_slot = {output};\n\
             \x20 const unsigned long n = rtcg_l.length; (void)n;\n"
        );
        self.put_reduce(&mut out);
        let _ = write!(
            out,
            "  __shared__ rtcg::room<rtcg_out_type, {REDUCE_THREADS}> rtcg_shared;\n\
             \x20 for (unsigned long rtcg_base = (unsigned long)blockIdx.x * {group}; rtcg_base < rtcg_l.outputs;\n\
             \x20      rtcg_base += (unsigned long)gridDim.x * {group})\n  {{\n\
             \x20   const unsigned long rtcg_o = rtcg_base + rtcg_slot;\n\
             \x20   rtcg_out_type rtcg_acc = rtcg_neutral;\n\
             \x20   long rtcg_k[{rows}];\n\
             \x20   rtcg::unravel<{kept}, {rows}>(rtcg_o, rtcg_l.kept, rtcg_l.kept_strides, rtcg_k);\n\
             \x20   if (rtcg_o < rtcg_l.outputs)\n\
             \x20     for (unsigned long rtcg_j = rtcg_lane; rtcg_j < rtcg_l.length; rtcg_j += {team})\n      {{\n\
             \x20       long rtcg_r[{rows}];\n\
             \x20       rtcg::unravel<{reduced}, {rows}>(rtcg_j, rtcg_l.reduced, rtcg_l.reduced_strides, rtcg_r);\n\
             \x20       const size_t i = rtcg_k[{arrays}] + rtcg_r[{arrays}]; (void)i;\n"
        );
        self.put_stand_ins(&mut out, &map);
        self.put_step(&mut out);
        out.push_str("      }\n");
        let at = |lane: &str| {
            if shape.along { format!("rtcg_slot * {team} + {lane}") } else { format!("({lane}) * {group} + rtcg_slot") }
        };
        if team > 1 {
            let _ = write!(
                out,
                "    rtcg_shared.at({own}) = rtcg_acc;\n    __syncthreads();\n\
                 \x20   #pragma unroll\n\
                 \x20   for (unsigned rtcg_s = {half}; rtcg_s > 0; rtcg_s /= 2)\n    {{\n\
                 \x20     if (rtcg_lane < rtcg_s) rtcg_shared.at({own}) = rtcg_reduce(rtcg_shared.at({own}), rtcg_shared.at({other}));\n\
                 \x20     __syncthreads();\n    }}\n\
                 \x20   rtcg_acc = rtcg_shared.at({own});\n    __syncthreads();\n",
                own = at("rtcg_lane"),
                other = at("rtcg_lane + rtcg_s"),
                half = team / 2,
            );
        }
        let _ = write!(
            out,
            "    if (rtcg_lane == 0 && rtcg_o < rtcg_l.outputs)\n\
             \x20     *rtcg::at(rtcg_out, rtcg_k[{}]) = rtcg_acc;\n  }}\n}}\n",
            arrays + 1
        );
        out
    }

    fn put_head(&self, out: &mut String, map: &Pointwise, access: &Access) {
        let result = Argument::vector(self.out.clone(), "rtcg_out");
        crate::pointwise::put_headers(out, &[result], &[&self.reduce_expr, &self.neutral]);
        map.put_head(out, access);
        out.push_str(ROOM);
        let _ = writeln!(out, "typedef {} rtcg_out_type;", self.out.name);
    }

    fn put_signature(&self, out: &mut String, last: &[&str]) {
        let declared: Vec<_> = self.arguments.iter().map(Argument::declarator).collect();
        let parameters: Vec<_> = std::iter::once("rtcg_out_type *rtcg_out")
            .chain(declared.iter().map(String::as_str))
            .chain(last.iter().copied())
            .collect();
        let _ = writeln!(
            out,
            "extern \"C\" __global__ void __launch_bounds__({REDUCE_THREADS}) {}({})",
            self.name,
            parameters.join(", ")
        );
    }

    /// The neutral element, and the function that combines two values. It may use the arguments.
    fn put_reduce(&self, out: &mut String) {
        out.push_str("  const rtcg_out_type rtcg_neutral =\n");
        put_snippet(out, "neutral", &self.neutral, ";");
        out.push_str("  auto rtcg_reduce = [&](rtcg_out_type a, rtcg_out_type b) -> rtcg_out_type { return (\n");
        put_snippet(out, "reduce_expr", &self.reduce_expr, "); };");
    }

    /// Blocks take chunks of eight elements per thread; only the last one looks at each element's index.
    fn put_chunks(&self, out: &mut String) {
        out.push_str(
            "  for (size_t rtcg_base = (size_t)blockIdx.x * 2048; rtcg_base < n; rtcg_base += (size_t)gridDim.x * 2048)\n  {\n\
             \x20   if (rtcg_base + 2048 <= n)\n    {\n\
             \x20     #pragma unroll\n\
             \x20     for (unsigned rtcg_k = 0; rtcg_k < 8; ++rtcg_k)\n      {\n\
             \x20       const size_t i = rtcg_base + threadIdx.x + rtcg_k * 256;\n",
        );
        self.put_step(out);
        out.push_str("      }\n    }\n    else for (size_t i = rtcg_base + threadIdx.x; i < n; i += 256)\n    {\n");
        self.put_step(out);
        out.push_str("    }\n  }\n");
    }

    fn put_step(&self, out: &mut String) {
        out.push_str("    rtcg_acc = rtcg_reduce(rtcg_acc, (rtcg_out_type)(\n");
        put_snippet(out, "map_expr", &self.map_expr, "));");
    }

    fn put_stand_ins(&self, out: &mut String, map: &Pointwise) {
        let arrays = map.arguments.iter().zip(map.uses()).filter(|(a, _)| a.is_vector).enumerate();
        for (row, (a, used)) in arrays {
            if !matches!(used, ElementUse::Unused | ElementUse::Other) {
                let (name, t) = (&a.name, &a.ctype.name);
                let _ = writeln!(
                    out,
                    "        const rtcg::element<const {t}> rtcg_e_{name} = {{rtcg::at((const {t} *){name}, rtcg_k[{row}] + rtcg_r[{row}])}};\n\
                     \x20       const rtcg::element<const {t}> &{name} = rtcg_e_{name};"
                );
            }
        }
    }
}

/// The bytes of the last parameter of an axis reduction. Each row of strides is for one array, then come
/// the distances of the flat index, and the strides of the result (whose reduced part is not used).
pub fn axis_layout_bytes(
    kept: &[usize],
    reduced: &[usize],
    kept_strides: &[Vec<isize>],
    reduced_strides: &[Vec<isize>],
) -> Vec<u8> {
    let sizes = [kept.iter().product::<usize>(), reduced.iter().product::<usize>()];
    let lengths = sizes.iter().chain(kept).chain(reduced).map(|&length| length as i64);
    let strides = kept_strides.iter().chain(reduced_strides).flatten().map(|&stride| stride as i64);
    lengths.chain(strides).flat_map(i64::to_ne_bytes).collect()
}

/// Room for values in shared memory whatever constructors they have, and exchange inside of a warp.
pub(crate) const ROOM: &str = "\
namespace rtcg {
template <class T, int N> struct room
{
  alignas(alignof(T) < 4 ? 4 : alignof(T)) unsigned char raw[N * sizeof(T)];
  __device__ T &at(unsigned k) { return reinterpret_cast<T *>(raw)[k]; }
};
template <class T> struct words
{
  static const int count = (sizeof(T) + 3) / 4;
  union { unsigned w[count]; unsigned char bytes[sizeof(T)]; };
  __device__ explicit words(const T &value)
  {
    if (sizeof(T) % 4 == 0 && alignof(T) % 4 == 0)
      for (int k = 0; k < count; ++k) w[k] = reinterpret_cast<const unsigned *>(&value)[k];
    else {
      for (int k = 0; k < count; ++k) w[k] = 0;
      for (int k = 0; k < (int)sizeof(T); ++k) bytes[k] = reinterpret_cast<const unsigned char *>(&value)[k];
    }
  }
  __device__ void get(T &value) const
  {
    if (sizeof(T) % 4 == 0 && alignof(T) % 4 == 0)
      for (int k = 0; k < count; ++k) reinterpret_cast<unsigned *>(&value)[k] = w[k];
    else
      for (int k = 0; k < (int)sizeof(T); ++k) reinterpret_cast<unsigned char *>(&value)[k] = bytes[k];
  }
};
template <class T> __device__ T shuffle_down(T value, unsigned distance)
{
  words<T> packed(value);
  for (int k = 0; k < words<T>::count; ++k) packed.w[k] = __shfl_down_sync(0xffffffffu, packed.w[k], distance);
  packed.get(value);
  return value;
}
template <class T> __device__ T shuffle_up(T value, unsigned distance)
{
  words<T> packed(value);
  for (int k = 0; k < words<T>::count; ++k) packed.w[k] = __shfl_up_sync(0xffffffffu, packed.w[k], distance);
  packed.get(value);
  return value;
}
template <int D, int rows> __device__ void unravel(unsigned long at, const long *shape, const long (*strides)[D], long *offsets)
{
  for (int row = 0; row < rows; ++row) offsets[row] = 0;
  #pragma unroll
  for (int axis = D - 1; axis >= 0; --axis) {
    long index = at;
    if (axis > 0) {
      if (at >> 32 | (unsigned long)shape[axis] >> 32) { index = at % shape[axis]; at /= shape[axis]; }
      else { const unsigned length = shape[axis]; index = (unsigned)at % length; at = (unsigned)at / length; }
    }
    #pragma unroll
    for (int row = 0; row < rows; ++row) offsets[row] += index * strides[row][axis];
  }
}
}
";

/// From the threads' values to the result.
const FULL_TAIL: &str = "\
  __shared__ rtcg::room<rtcg_out_type, 8> rtcg_shared;
  __shared__ bool rtcg_is_last;
  const unsigned rtcg_lane = threadIdx.x % 32, rtcg_warp = threadIdx.x / 32;
  for (bool rtcg_again = false;; rtcg_again = true)
  {
    #pragma unroll
    for (unsigned rtcg_s = 16; rtcg_s > 0; rtcg_s /= 2)
      rtcg_acc = rtcg_reduce(rtcg_acc, rtcg::shuffle_down(rtcg_acc, rtcg_s));
    if (rtcg_lane == 0) rtcg_shared.at(rtcg_warp) = rtcg_acc;
    __syncthreads();
    if (threadIdx.x == 0)
    {
      #pragma unroll
      for (unsigned rtcg_w = 1; rtcg_w < 8; ++rtcg_w) rtcg_acc = rtcg_reduce(rtcg_acc, rtcg_shared.at(rtcg_w));
      if (gridDim.x == 1 || rtcg_again)
        *rtcg_out = rtcg_acc;
      else
      {
        rtcg_partials[blockIdx.x] = rtcg_acc;
        __threadfence();
        rtcg_is_last = atomicInc(rtcg_ticket, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
      }
    }
    if (gridDim.x == 1 || rtcg_again) return;
    __syncthreads();
    if (!rtcg_is_last) return;
    __threadfence();
    rtcg_acc = rtcg_neutral;
    for (unsigned rtcg_b = threadIdx.x; rtcg_b < gridDim.x; rtcg_b += blockDim.x)
      rtcg_acc = rtcg_reduce(rtcg_acc, rtcg_partials[rtcg_b]);
  }
}
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carg::{TypeRegistry, parse_arguments};

    fn dot() -> Reduction {
        let registry = TypeRegistry::new();
        Reduction {
            name: "dot".into(),
            arguments: parse_arguments("float *x, const float *y, float scale", &registry).unwrap(),
            out: registry.lookup("double").unwrap(),
            neutral: "0".into(),
            reduce_expr: "a + b".into(),
            map_expr: "scale * x[i] * y[i]".into(),
            preamble: String::new(),
        }
    }

    #[test]
    fn inputs_are_read_in_packs() {
        assert_eq!(dot().map().lanes(), 4);
        let source = dot().full_source(&Access::Packed { lanes: 4 });
        assert!(source.contains("rtcg_x.load(x, rtcg_p)") && !source.contains(".store(x"), "{source}");
        assert!(
            source.contains("void __launch_bounds__(256) dot(rtcg_out_type *rtcg_out, float *x, const float *y"),
            "{source}"
        );
    }

    #[test]
    fn layouts_have_a_row_for_each_array_the_index_and_the_result() {
        let bytes =
            axis_layout_bytes(&[2, 3], &[5], &[vec![1, 2], vec![3, 4], vec![5, 6]], &[vec![7], vec![8], vec![0]]);
        let numbers: Vec<_> = bytes.chunks(8).map(|b| i64::from_ne_bytes(b.try_into().unwrap())).collect();
        assert_eq!(numbers, [6, 5, 2, 3, 5, 1, 2, 3, 4, 5, 6, 7, 8, 0]);
    }
}
