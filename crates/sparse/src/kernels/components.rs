//! Connected components of a graph (Jaiganesh and Burtscher 2018): nodes point to smaller ones, and each edge makes the
//! root of one end point to the smaller root of the other. At the end every node points to the smallest node of its
//! component, whatever the scheduling.
//!
//! Parameters of `components_hook`: the pointers of nodes, `indices`, `indptr`, nodes, edges. Of `components_start` and
//! `components_flatten`: the pointers of nodes, nodes.

use super::THREADS;
use super::elements::c_type;
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Which kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ComponentsStage {
    /// Nodes point to themselves.
    Start,
    /// Edges join components.
    Hook,
    /// Nodes point to roots.
    Flatten,
}

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ComponentsSpec {
    /// `I32` or `I64`.
    pub(crate) index: DType,
    pub(crate) stage: ComponentsStage,
}

impl KernelSpec for ComponentsSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        match self.stage {
            ComponentsStage::Start => "components_start",
            ComponentsStage::Hook => "components_hook",
            ComponentsStage::Flatten => "components_flatten",
        }
        .into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        let _ = writeln!(text, "typedef {} I;\nenum {{ THREADS = {THREADS} }};", c_type(self.index));
        text.push_str(ROOT);
        text.push_str(match self.stage {
            ComponentsStage::Start => START,
            ComponentsStage::Hook => HOOK,
            ComponentsStage::Flatten => FLATTEN,
        });
        text
    }
}

const ROOT: &str = "\
// Others write while this reads; numbers only become smaller.
RT_FUNCTION int root_of(RT_GLOBAL int *parents, int node)
{
  int parent = RT_ATOMIC_CAS(&parents[node], -1, -1);
  while (parent != node) {
    const int grandparent = RT_ATOMIC_CAS(&parents[parent], -1, -1);
    if (grandparent != parent) RT_ATOMIC_CAS(&parents[node], parent, grandparent);
    node = parent;
    parent = grandparent;
  }
  return node;
}
";

const START: &str = "\
RT_KERNEL components_start(RT_GLOBAL int *parents, long long nodes)
{
  const long long step = (long long)RT_GROUP_COUNT * THREADS;
  for (long long node = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID; node < nodes; node += step) parents[node] = (int)node;
}
";

const HOOK: &str = "\
RT_KERNEL components_hook(RT_GLOBAL int *parents, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, long long nodes, long long edges)
{
  const long long step = (long long)RT_GROUP_COUNT * THREADS;
  for (long long k = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID; k < edges; k += step) {
    long long low = 0, high = nodes;
    while (high - low > 1) {
      const long long middle = (low + high) / 2;
      if (indptr[middle] <= k) low = middle; else high = middle;
    }
    int a = root_of(parents, (int)low), b = root_of(parents, (int)indices[k]);
    while (a != b) {
      const int larger = a > b ? a : b, smaller = a > b ? b : a;
      const int found = RT_ATOMIC_CAS(&parents[larger], larger, smaller);
      if (found == larger) break;
      a = root_of(parents, found);
      b = root_of(parents, smaller);
    }
  }
}
";

const FLATTEN: &str = "\
RT_KERNEL components_flatten(RT_GLOBAL int *parents, long long nodes)
{
  const long long step = (long long)RT_GROUP_COUNT * THREADS;
  for (long long node = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID; node < nodes; node += step) {
    const int root = root_of(parents, (int)node);
    // Whoever finds this one on its way gets to the same root.
    for (int parent = RT_ATOMIC_CAS(&parents[node], -1, -1); parent != root;)
      parent = RT_ATOMIC_CAS(&parents[node], parent, root) == parent ? root : RT_ATOMIC_CAS(&parents[node], -1, -1);
  }
}
";
