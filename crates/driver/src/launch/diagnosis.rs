//! Explains why a launch failed, by comparing the limits of the device and the kernel with what was requested. Nothing
//! here runs unless a launch has failed.

use crate::error::Error;
use crate::launch_options::LaunchOptions;
use crate::module::Function;
use crate::process_state;
use rtcg_cuda_sys::*;

impl Function {
    /// A failed launch with what this crate can find out about the reason. Costs nothing until
    /// something has failed.
    #[cold]
    #[inline(never)]
    pub(crate) fn explain_launch_failure(
        &self,
        call: &'static str,
        code: CUresult,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        options: &LaunchOptions,
    ) -> Error {
        let error = Error::from_failed_call(self.0.table, call, code);
        if error.detail.is_some() || process_state::is_forked() {
            return error;
        }
        let reason = self
            .invalid_block_reason(block)
            .or_else(|| self.invalid_grid_reason(grid))
            .or_else(|| self.shared_memory_reason(shared_bytes))
            .or_else(|| self.invalid_options_reason(code, block, shared_bytes, options))
            .or_else(|| self.invalid_context_reason());
        error.with_detail(reason.unwrap_or_default())
    }

    fn device_limit(&self, attribute: CUdevice_attribute) -> Option<u64> {
        let value = self.0.module.context().device().attribute(attribute).ok()?;
        u64::try_from(value).ok()
    }

    /// Which axis of a block or grid is longer than the device allows.
    fn axis_limit_reason(&self, what: &str, shape: [u32; 3], limits: [CUdevice_attribute; 3]) -> Option<String> {
        ['x', 'y', 'z'].into_iter().zip(shape).zip(limits).find_map(|((axis, length), attribute)| {
            let limit = self.device_limit(attribute)?;
            (u64::from(length) > limit).then(|| format!("{what} {shape:?}: {axis} may be {limit} at most"))
        })
    }

    fn invalid_block_reason(&self, block: [u32; 3]) -> Option<String> {
        let threads: u64 = block.iter().map(|n| u64::from(*n)).product();
        if threads == 0 {
            return Some(format!("block {block:?} has no threads"));
        }
        let limits = [
            CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
            CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
            CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
        ];
        if let Some(reason) = self.axis_limit_reason("block", block, limits) {
            return Some(reason);
        }
        let limit = self.device_limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        if threads > limit {
            return Some(format!("block {block:?} has {threads} threads, {limit} are allowed"));
        }
        let own = self.attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK).ok()?;
        (threads > own.max(0) as u64).then(|| {
            let registers = self.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS).unwrap_or(0);
            let name = self.name();
            format!(
                "block {block:?} has {threads} threads, kernel '{name}' ({registers} registers \
                 per thread) can run with {own} at most"
            )
        })
    }

    fn invalid_grid_reason(&self, grid: [u32; 3]) -> Option<String> {
        if grid.contains(&0) {
            return Some(format!("grid {grid:?} has no blocks"));
        }
        let limits = [
            CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
            CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
            CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
        ];
        self.axis_limit_reason("grid", grid, limits)
    }

    fn shared_memory_reason(&self, dynamic: u32) -> Option<String> {
        let fixed = self.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES).ok()?.max(0) as u64;
        let limit = self.attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES).ok()?;
        if u64::from(dynamic) > limit.max(0) as u64 {
            let most = self.device_limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN).unwrap_or(0);
            return Some(format!(
                "{dynamic} bytes of dynamic shared memory asked for; the device has {most} per block at most, of \
                 which the kernel itself declares {fixed}"
            ));
        }
        None
    }

    /// What the device lacks of what the options ask for.
    fn invalid_options_reason(
        &self,
        code: CUresult,
        block: [u32; 3],
        shared_bytes: u32,
        options: &LaunchOptions,
    ) -> Option<String> {
        let device = self.0.module.context().device();
        let lacks = |attribute| self.device_limit(attribute) == Some(0);
        let name = || device.name().unwrap_or_else(|_| "this device".to_owned());
        if options.cluster.is_some() && lacks(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) {
            return Some(format!("clusters of blocks are not supported by {}", name()));
        }
        if options.cooperative && lacks(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) {
            return Some(format!("cooperative launches are not supported by {}", name()));
        }
        if code == CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE {
            let per_multiprocessor = self.max_active_blocks(block.iter().product(), shared_bytes as usize).ok()?;
            let most = u64::from(per_multiprocessor) * self.device_limit(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
            return Some(format!("with this block, {most} blocks can be resident at once on {}", name()));
        }
        if code == CUresult::CUDA_ERROR_NOT_SUPPORTED || code == CUresult::CUDA_ERROR_INVALID_VALUE {
            let asked = options.attribute_names();
            let is_any = !asked.is_empty();
            return is_any.then(|| format!("{} may not be supported by {}", asked.join(", "), name()));
        }
        None
    }

    fn invalid_context_reason(&self) -> Option<String> {
        let ctx = self.0.module.context();
        match crate::context::Context::current() {
            None => Some("no context is current in this thread".to_owned()),
            Some(_) if !ctx.is_alive() => Some("the kernel's context was destroyed".to_owned()),
            Some(current) if current != *ctx => {
                Some("the kernel was loaded in another context than the current one".to_owned())
            }
            Some(_) => None,
        }
    }
}
