//! Launching kernels: packing and checking arguments, the launch itself, explaining failures.
//!
//! Arguments are packed into one buffer at the offsets that the kernel's parameters have. Where
//! the driver can tell these ([`Function::params`]), number and sizes are checked and an error
//! says which argument is wrong; where it cannot, C's alignment rules give the offsets.

use crate::error::{Error, Result};
use crate::function::{Function, Param};
use crate::process;
use crate::stream::{Stream, handle_for};
use rtcg_cuda_sys::*;

/// Extra wishes for a launch.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct LaunchOptions {
    /// All blocks must be resident at once, so that the grid can synchronise.
    pub cooperative: bool,
    /// Blocks per cluster (compute capability 9.0).
    pub cluster: Option<[u32; 3]>,
}

/// Packs the arguments of one launch.
#[derive(Debug)]
pub struct ArgPacker<'f> {
    function: &'f Function,
    params: Option<&'f [Param]>,
    packed: PackedArgs,
    count: usize,
}

const INLINE_BYTES: usize = 256;

/// Packed arguments; a slice of bytes to everyone else. Few of them need no heap memory.
#[derive(Clone, Debug)]
#[repr(C, align(16))]
pub struct PackedArgs {
    inline: [u8; INLINE_BYTES],
    /// Holds all bytes once they are too many for `inline`.
    heap: Vec<u8>,
    len: usize,
}

impl PackedArgs {
    fn new() -> Self {
        Self { inline: [0; INLINE_BYTES], heap: Vec::new(), len: 0 }
    }

    /// Puts `bytes` at `offset`, which is not before the end of what is there.
    fn put(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset + bytes.len();
        if end <= INLINE_BYTES {
            self.inline[offset..end].copy_from_slice(bytes);
        } else {
            if self.heap.is_empty() {
                self.heap.extend_from_slice(&self.inline[..self.len]);
            }
            self.heap.resize(offset, 0);
            self.heap.extend_from_slice(bytes);
        }
        self.len = end;
    }
}

impl std::ops::Deref for PackedArgs {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        if self.heap.is_empty() { &self.inline[..self.len] } else { &self.heap }
    }
}

/// The argument layout of a kernel, checked once for many launches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PreparedArgs {
    /// Where each argument goes.
    pub slots: Vec<Param>,
    /// The size of the packed arguments.
    pub nbytes: usize,
}

impl<'f> ArgPacker<'f> {
    /// The number of arguments so far.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Adds an argument's bytes. `align` is its alignment in C, used only where the kernel's
    /// parameters are not known.
    pub fn push(&mut self, bytes: &[u8], align: usize) -> Result<()> {
        let slot = self.slot(bytes.len(), align)?;
        self.packed.put(slot.offset, bytes);
        self.count += 1;
        Ok(())
    }

    fn slot(&self, nbytes: usize, align: usize) -> Result<Param> {
        match self.params {
            Some(params) => match params.get(self.count) {
                Some(param) if param.nbytes == nbytes => Ok(*param),
                Some(param) => Err(self.function.wrong_size(self.count, nbytes, param.nbytes)),
                None => Err(self.function.too_many(self.count + 1)),
            },
            None => Ok(Param { offset: self.packed.len.next_multiple_of(align.max(1)), nbytes }),
        }
    }

    /// The packed arguments, once all are there.
    #[inline]
    pub fn bytes(&self) -> Result<&[u8]> {
        match self.params {
            Some(params) if params.len() != self.count => Err(self.function.too_few(self.count)),
            _ => Ok(&self.packed),
        }
    }

    /// [`ArgPacker::bytes`] to be kept without the packer.
    pub fn pack(self) -> Result<PackedArgs> {
        self.bytes()?;
        Ok(self.packed)
    }

    /// [`ArgPacker::bytes`] as a vector.
    pub fn finish(self) -> Result<Vec<u8>> {
        self.bytes().map(<[u8]>::to_vec)
    }
}

/// Checking and packing arguments.
impl Function {
    /// Starts packing the arguments of a launch.
    pub fn args(&self) -> ArgPacker<'_> {
        let params = self.params();
        ArgPacker { function: self, params, packed: PackedArgs::new(), count: 0 }
    }

    /// Checks the sizes and C alignments of arguments against the kernel, and says where each
    /// goes.
    pub fn prepare(&self, args: &[(usize, usize)]) -> Result<PreparedArgs> {
        let slots = match self.params() {
            Some(params) => self.check(params, args).map_err(|error| Error { call: "prepare", ..error })?.to_vec(),
            None => natural_layout(args),
        };
        let nbytes = slots.last().map_or(0, |slot| slot.offset + slot.nbytes);
        Ok(PreparedArgs { slots, nbytes })
    }

    fn check<'p>(&self, params: &'p [Param], args: &[(usize, usize)]) -> Result<&'p [Param]> {
        for (index, (param, (nbytes, _))) in params.iter().zip(args).enumerate() {
            if param.nbytes != *nbytes {
                return Err(self.wrong_size(index, *nbytes, param.nbytes));
            }
        }
        match args.len() {
            n if n < params.len() => Err(self.too_few(n)),
            n if n > params.len() => Err(self.too_many(n)),
            _ => Ok(params),
        }
    }

    #[cold]
    fn wrong_size(&self, index: usize, given: usize, wanted: usize) -> Error {
        self.argument_error(format!(
            "argument #{index} (0-based) has {given} bytes, but the parameter of kernel '{}' has \
             {wanted}",
            self.name()
        ))
    }

    #[cold]
    fn too_few(&self, given: usize) -> Error {
        let wanted = self.params().map_or(0, <[Param]>::len);
        self.argument_error(format!(
            "kernel '{}' takes {wanted} arguments, {given} were given; argument #{given} (0-based) \
             is missing",
            self.name()
        ))
    }

    #[cold]
    fn too_many(&self, given: usize) -> Error {
        let wanted = self.params().map_or(0, <[Param]>::len);
        self.argument_error(format!(
            "kernel '{}' takes {wanted} arguments, but argument #{} (0-based) was given",
            self.name(),
            given - 1
        ))
    }

    fn argument_error(&self, detail: String) -> Error {
        Error::new("cuLaunchKernel", CUresult::CUDA_ERROR_INVALID_VALUE, detail)
    }
}

fn natural_layout(args: &[(usize, usize)]) -> Vec<Param> {
    let mut end = 0usize;
    args.iter()
        .map(|&(nbytes, align)| {
            let offset = end.next_multiple_of(align.max(1));
            end = offset + nbytes;
            Param { offset, nbytes }
        })
        .collect()
}

/// The launch.
impl Function {
    /// Launches the kernel with packed arguments. Returns when the launch is queued.
    ///
    /// # Safety
    /// The arguments must be what the kernel expects (see [`Function::args`]), and the memory
    /// they point to must be valid until the kernel has run.
    #[inline]
    pub unsafe fn launch(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        stream: Option<&Stream>,
        args: &[u8],
    ) -> Result<()> {
        let mut nbytes = args.len();
        let mut extra = [
            CU_LAUNCH_PARAM_BUFFER_POINTER,
            args.as_ptr().cast_mut().cast(),
            CU_LAUNCH_PARAM_BUFFER_SIZE,
            (&raw mut nbytes).cast(),
            CU_LAUNCH_PARAM_END,
        ];
        let extra = if args.is_empty() { std::ptr::null_mut() } else { extra.as_mut_ptr() };
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        let table = self.0.module.context().live_table("cuLaunchKernel")?;
        let s = handle_for("cuLaunchKernel", table, stream)?;
        let (f, none) = (self.0.handle, std::ptr::null_mut());
        let code = if process::is_forked() {
            CUresult::CUDA_ERROR_NOT_INITIALIZED
        } else {
            // SAFETY: the function is alive; the arguments are the caller's promise, and the
            // driver copies them before it returns.
            unsafe { table.cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared_bytes, s, none, extra) }
        };
        if code.is_success() {
            return Ok(());
        }
        Err(self.explain("cuLaunchKernel", code, grid, block, shared_bytes))
    }

    /// [`Function::launch`] with the options of `cuLaunchKernelEx`.
    ///
    /// # Safety
    /// As [`Function::launch`].
    pub unsafe fn launch_with(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        stream: Option<&Stream>,
        args: &[u8],
        options: LaunchOptions,
    ) -> Result<()> {
        if options == LaunchOptions::default() {
            // SAFETY: the caller's promise.
            return unsafe { self.launch(grid, block, shared_bytes, stream, args) };
        }
        let table = self.0.module.context().live_table("cuLaunchKernelEx")?;
        let stream = handle_for("cuLaunchKernelEx", table, stream)?;
        let mut attributes = options.attributes();
        let config = CUlaunchConfig {
            gridDimX: grid[0],
            gridDimY: grid[1],
            gridDimZ: grid[2],
            blockDimX: block[0],
            blockDimY: block[1],
            blockDimZ: block[2],
            sharedMemBytes: shared_bytes,
            hStream: stream,
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as c_uint,
        };
        let mut nbytes = args.len();
        let mut extra = [
            CU_LAUNCH_PARAM_BUFFER_POINTER,
            args.as_ptr().cast_mut().cast(),
            CU_LAUNCH_PARAM_BUFFER_SIZE,
            (&raw mut nbytes).cast(),
            CU_LAUNCH_PARAM_END,
        ];
        let extra = if args.is_empty() { std::ptr::null_mut() } else { extra.as_mut_ptr() };
        let (f, none) = (self.0.handle, std::ptr::null_mut());
        // SAFETY: as in `launch`; config and attributes live until the call returns.
        unsafe { call!(table, cuLaunchKernelEx(&raw const config, f, none, extra)) }
            .map_err(|e| self.explain(e.call, e.code, grid, block, shared_bytes))
    }

    /// A failed launch with what this crate can find out about the reason. Costs nothing until
    /// something has failed.
    #[cold]
    #[inline(never)]
    fn explain(&self, call: &'static str, code: CUresult, grid: [u32; 3], block: [u32; 3], shared_bytes: u32) -> Error {
        let error = Error::from_call(self.0.table, call, code);
        if error.detail.is_some() || process::is_forked() {
            return error;
        }
        let reason = self
            .block_reason(block)
            .or_else(|| self.grid_reason(grid))
            .or_else(|| self.shared_reason(shared_bytes))
            .or_else(|| self.context_reason());
        error.with_detail(reason.unwrap_or_default())
    }

    fn device_limit(&self, attribute: CUdevice_attribute) -> Option<u64> {
        let value = self.0.module.context().device().attribute(attribute).ok()?;
        u64::try_from(value).ok()
    }

    /// Which axis of a block or grid is longer than the device allows.
    fn axis_reason(&self, what: &str, shape: [u32; 3], limits: [CUdevice_attribute; 3]) -> Option<String> {
        ['x', 'y', 'z'].into_iter().zip(shape).zip(limits).find_map(|((axis, length), attribute)| {
            let limit = self.device_limit(attribute)?;
            (u64::from(length) > limit).then(|| format!("{what} {shape:?}: {axis} may be {limit} at most"))
        })
    }

    fn block_reason(&self, block: [u32; 3]) -> Option<String> {
        let threads: u64 = block.iter().map(|n| u64::from(*n)).product();
        if threads == 0 {
            return Some(format!("block {block:?} has no threads"));
        }
        let limits = [
            CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
            CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
            CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
        ];
        if let Some(reason) = self.axis_reason("block", block, limits) {
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

    fn grid_reason(&self, grid: [u32; 3]) -> Option<String> {
        if grid.contains(&0) {
            return Some(format!("grid {grid:?} has no blocks"));
        }
        let limits = [
            CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
            CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
            CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
        ];
        self.axis_reason("grid", grid, limits)
    }

    fn shared_reason(&self, dynamic: u32) -> Option<String> {
        let fixed = self.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES).ok()?.max(0) as u64;
        let limit = self.attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES).ok()?;
        if u64::from(dynamic) > limit.max(0) as u64 {
            return Some(format!(
                "{dynamic} bytes of dynamic shared memory asked for, {limit} allowed beside the \
                 kernel's own {fixed} (attribute MAX_DYNAMIC_SHARED_SIZE_BYTES raises the limit)"
            ));
        }
        None
    }

    fn context_reason(&self) -> Option<String> {
        let ctx = self.0.module.context();
        match crate::context::Context::current() {
            None => Some("no context is current in this thread".to_owned()),
            Some(_) if !ctx.is_alive() => Some("the kernel's context is gone".to_owned()),
            Some(current) if current != *ctx => {
                Some("the kernel was loaded in another context than the current one".to_owned())
            }
            Some(_) => None,
        }
    }
}

impl LaunchOptions {
    fn attributes(&self) -> Vec<CUlaunchAttribute> {
        let mut attributes = Vec::new();
        if self.cooperative {
            let value = CUlaunchAttributeValue { cooperative: 1 };
            attributes.push(attribute(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value));
        }
        if let Some([x, y, z]) = self.cluster {
            let dim = CUlaunchAttributeValue_clusterDim { x, y, z };
            let value = CUlaunchAttributeValue { clusterDim: dim };
            attributes.push(attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value));
        }
        attributes
    }
}

fn attribute(id: CUlaunchAttributeID, value: CUlaunchAttributeValue) -> CUlaunchAttribute {
    CUlaunchAttribute { id, value, ..Default::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_arguments_grow_past_the_inline_buffer() {
        let mut packed = PackedArgs::new();
        let mut expected = Vec::new();
        for (offset, nbytes) in [(0, 4), (8, 8), (16, 200), (240, 16), (256, 8), (272, 600)] {
            let bytes: Vec<u8> = (0..nbytes).map(|i| (i + offset + 1) as u8).collect();
            packed.put(offset, &bytes);
            expected.resize(offset, 0);
            expected.extend_from_slice(&bytes);
            assert_eq!(*packed, expected[..]);
        }
    }

    #[test]
    fn natural_layout_follows_c() {
        let layout = natural_layout(&[(4, 4), (8, 8), (1, 1), (2, 2), (16, 8)]);
        let offsets: Vec<_> = layout.iter().map(|p| p.offset).collect();
        assert_eq!(offsets, [0, 8, 16, 18, 24]);
    }
}
