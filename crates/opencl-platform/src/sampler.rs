//! Samplers: how an image is read between and beyond its pixels.

use crate::context::{ContextBody, property_list};
use crate::error::{ClError, Result, code_of, object_of};
use crate::info::{Answer, info_function};
use crate::object::{Ref, body, release, resolve, retain};
use rtcg_opencl_sys::*;

pub(crate) struct SamplerBody {
    context: Ref<ContextBody>,
    is_normalized: cl_bool,
    addressing: cl_addressing_mode,
    filter: cl_filter_mode,
    properties: Vec<cl_sampler_properties>,
}

body!(SamplerBody: cl_sampler, b"samp", CL_INVALID_SAMPLER, "sampler");

impl SamplerBody {
    fn create(
        context: Ref<ContextBody>,
        is_normalized: cl_bool,
        addressing: cl_addressing_mode,
        filter: cl_filter_mode,
        properties: Vec<cl_sampler_properties>,
    ) -> Result<cl_sampler> {
        let wraps = [CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT].contains(&addressing);
        let known = [CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP].contains(&addressing) || wraps;
        if !known || ![CL_FILTER_NEAREST, CL_FILTER_LINEAR].contains(&filter) || is_normalized > CL_TRUE {
            return ClError::value(format!(
                "sampler: normalized {is_normalized}, addressing {addressing:#x}, filter {filter:#x}"
            ));
        }
        if wraps && is_normalized == CL_FALSE {
            return ClError::value("addressing_mode: repeating needs normalized coordinates");
        }
        Ok(Ref::new_for_user(Self { context, is_normalized, addressing, filter, properties }))
    }

    /// The bits that the library of builtins knows: those of a sampler in source.
    pub(crate) fn bits(&self) -> u32 {
        let addressing = match self.addressing {
            CL_ADDRESS_CLAMP_TO_EDGE => 2,
            CL_ADDRESS_CLAMP => 4,
            CL_ADDRESS_REPEAT => 6,
            CL_ADDRESS_MIRRORED_REPEAT => 8,
            _ => 0,
        };
        addressing | self.is_normalized | if self.filter == CL_FILTER_LINEAR { 0x20 } else { 0x10 }
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateSampler(
    context: cl_context,
    normalized_coords: cl_bool,
    addressing_mode: cl_addressing_mode,
    filter_mode: cl_filter_mode,
    errcode_ret: *mut cl_int,
) -> cl_sampler {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_sampler::NULL, || {
            let context = resolve::<ContextBody>(context)?;
            SamplerBody::create(context, normalized_coords, addressing_mode, filter_mode, Vec::new())
        })
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateSamplerWithProperties(
    context: cl_context,
    sampler_properties: *const cl_sampler_properties,
    errcode_ret: *mut cl_int,
) -> cl_sampler {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_sampler::NULL, || {
            let context = resolve::<ContextBody>(context)?;
            let list = property_list(sampler_properties);
            let (mut normalized, mut addressing, mut filter) = (CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST);
            for pair in list.chunks_exact(2) {
                let value = pair[1] as cl_uint;
                match pair[0] as cl_uint {
                    CL_SAMPLER_NORMALIZED_COORDS => normalized = value,
                    CL_SAMPLER_ADDRESSING_MODE => addressing = value,
                    CL_SAMPLER_FILTER_MODE => filter = value,
                    other => return ClError::value(format!("sampler_properties: {other:#x} is none of a sampler")),
                }
            }
            SamplerBody::create(context, normalized, addressing, filter, list)
        })
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clRetainSampler(sampler: cl_sampler) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { retain::<SamplerBody>(sampler) })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clReleaseSampler(sampler: cl_sampler) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { release::<SamplerBody>(sampler) })
}

info_function!(clGetSamplerInfo(cl_sampler, cl_sampler_info) of SamplerBody = sampler_info);

fn sampler_info(sampler: &Ref<SamplerBody>, param_name: cl_sampler_info, answer: Answer) -> Result<()> {
    match param_name {
        CL_SAMPLER_REFERENCE_COUNT => answer.plain(sampler.user_count()),
        CL_SAMPLER_CONTEXT => answer.plain(sampler.context.handle()),
        CL_SAMPLER_NORMALIZED_COORDS => answer.plain(sampler.is_normalized),
        CL_SAMPLER_ADDRESSING_MODE => answer.plain(sampler.addressing),
        CL_SAMPLER_FILTER_MODE => answer.plain(sampler.filter),
        CL_SAMPLER_PROPERTIES => answer.slice(&sampler.properties),
        _ => answer.unknown("sampler", param_name),
    }
}
