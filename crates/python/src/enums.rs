//! Values of the driver's enumerations, by PyCUDA's names, for `rtcg._enums` to make classes of.
//!
//! They come from the driver table's own declarations, so the two cannot differ.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rtcg::driver::sys;

type EnumMembers = Vec<(String, u32)>;

/// The constants of one C enumeration without their common prefix.
fn members_without_prefix(prefix: &str, all: impl Iterator<Item = (&'static str, u32)>) -> EnumMembers {
    all.filter_map(|(name, value)| name.strip_prefix(prefix).map(|short| (short.to_string(), value))).collect()
}

macro_rules! define_enum_tables {
    ($($python:literal = $c:ident without $prefix:literal;)*) => {
        fn enum_tables() -> Vec<(&'static str, EnumMembers)> {
            vec![$(($python, members_without_prefix($prefix, sys::$c::NAMED_CONSTANTS.iter().map(|&(name, value)| (name, value.0)))),)*]
        }
    };
}

define_enum_tables! {
    "device_attribute" = CUdevice_attribute without "CU_DEVICE_ATTRIBUTE_";
    "p2p_attribute" = CUdevice_P2PAttribute without "CU_DEVICE_P2P_ATTRIBUTE_";
    "function_attribute" = CUfunction_attribute without "CU_FUNC_ATTRIBUTE_";
    "func_cache" = CUfunc_cache without "CU_FUNC_CACHE_";
    "limit" = CUlimit without "CU_LIMIT_";
    "jit_option" = CUjit_option without "CU_JIT_";
    "jit_target" = CUjit_target without "CU_TARGET_";
    "jit_fallback" = CUjit_fallback without "CU_";
    "jit_input_type" = CUjitInputType without "CU_JIT_INPUT_";
    "array_format" = CUarray_format without "CU_AD_FORMAT_";
    "address_mode" = CUaddress_mode without "CU_TR_ADDRESS_MODE_";
    "filter_mode" = CUfilter_mode without "CU_TR_FILTER_MODE_";
    "memory_type" = CUmemorytype without "CU_MEMORYTYPE_";
    "compute_mode" = CUcomputemode without "CU_COMPUTEMODE_";
    "mem_advice" = CUmem_advise without "CU_MEM_ADVISE_";
    "mem_range_attribute" = CUmem_range_attribute without "CU_MEM_RANGE_ATTRIBUTE_";
    "mem_pool_attribute" = CUmemPool_attribute without "CU_MEMPOOL_ATTR_";
    "mem_access_flags" = CUmemAccess_flags without "CU_MEM_ACCESS_FLAGS_";
    "pointer_attribute" = CUpointer_attribute without "CU_POINTER_ATTRIBUTE_";
    "capture_mode" = CUstreamCaptureMode without "CU_STREAM_CAPTURE_MODE_";
    "capture_status" = CUstreamCaptureStatus without "CU_STREAM_CAPTURE_STATUS_";
    "graph_node_type" = CUgraphNodeType without "CU_GRAPH_NODE_TYPE_";
    "graph_conditional_node_type" = CUgraphConditionalNodeType without "CU_GRAPH_COND_TYPE_";
    "graph_debug_dot_flags" = CUgraphDebugDot_flags without "CU_GRAPH_DEBUG_DOT_FLAGS_";
    "graph_instantiate_flags" = CUgraphInstantiate_flags without "CUDA_GRAPH_INSTANTIATE_FLAG_";
    "shared_config" = CUsharedconfig without "CU_SHARED_MEM_CONFIG_";
}

/// `{enumeration: {member: value}}`
#[pyfunction]
fn enum_values(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for (name, members) in enum_tables() {
        let dict = PyDict::new(py);
        for (member, value) in members {
            dict.set_item(member, value)?;
        }
        all.set_item(name, dict)?;
    }
    Ok(all)
}

/// The member of an enumeration; for a value without a name an instance that knows its number.
pub(crate) fn enum_member<'py>(py: Python<'py>, class: &str, value: u32) -> PyResult<Bound<'py, PyAny>> {
    let class = py.import("rtcg._enums")?.getattr(class)?;
    let member = class.getattr("values")?.call_method1("get", (value,))?;
    if member.is_none() { class.call1((value,)) } else { Ok(member) }
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(enum_values, m)?)
}
