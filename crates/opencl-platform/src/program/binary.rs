//! Programs as bytes, for `CL_PROGRAM_BINARIES` and `clCreateProgramWithBinary`: the PTX with its kernels, or LLVM's
//! text. A version and a check sum stand before it, so that other bytes are refused and not loaded.
//!
//! The check sum finds accidents, and anybody can compute it. So nothing is believed: what is said about a kernel must
//! be consistent ([`is_consistent`]), and of a program that a user hands in it must be what the PTX has
//! ([`agrees_with_ptx`]).

use super::ProgramBody;
use super::build::{Built, BuiltKernel, Stage};
use super::pass::{Entry, Slot, record_offset};
use crate::context::ContextBody;
use crate::error::{ClError, object_of, refuse};
use crate::object::{Ref, resolve};
use crate::platform::device::devices_of_list;
use rtcg_compile::clang::{AddressSpace, KernelArgument, KernelMetadata, OpenClObject};
use rtcg_opencl_sys::*;
use rtcg_ptx::ast::{Function, Param};
use rtcg_ptx::opencl_launch::{RECORD_BYTES, record_of};
use std::collections::HashSet;
use std::sync::Arc;

/// The first bytes; the last one is the version of the form.
const MAGIC: &[u8; 8] = b"rtcgocl\x02";

/// The most bytes of parameters that are described: more than any device has.
const MAX_DESCRIBED_BYTES: usize = 1 << 16;

/// The bytes of a program; none before it is compiled.
pub(crate) fn encode(stage: &Stage) -> Vec<u8> {
    let mut writer = Writer(Vec::new());
    match stage {
        Stage::None => return Vec::new(),
        Stage::Executable(built) => {
            writer.number(0);
            writer.text(&built.ptx);
            writer.number(built.kernels.len());
            for kernel in &built.kernels {
                writer.text(&kernel.entry.name);
                writer.number(kernel.entry.slots.len());
                for slot in &kernel.entry.slots {
                    writer.number(slot.offset);
                    writer.number(slot.nbytes);
                }
                writer.number(kernel.entry.record_offset);
                writer.number(usize::from(kernel.can_tell_groups));
                writer.metadata(&kernel.metadata);
            }
        }
        Stage::Object(object) | Stage::Library(object) => {
            writer.number(if matches!(stage, Stage::Object(_)) { 1 } else { 2 });
            writer.text(&object.ir);
            writer.number(object.kernels.len());
            object.kernels.iter().for_each(|kernel| writer.metadata(kernel));
        }
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend(check_sum(&writer.0).to_le_bytes());
    bytes.extend(writer.0);
    bytes
}

/// The program of some bytes, if they are one of ours.
pub(super) fn decode(bytes: &[u8]) -> Option<Stage> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (sum, rest) = rest.split_first_chunk::<8>()?;
    if check_sum(rest) != u64::from_le_bytes(*sum) {
        return None;
    }
    let mut reader = Reader(rest);
    let kind = reader.number()?;
    let text = reader.text()?;
    let count = reader.number()?;
    if kind == 0 {
        let kernels = (0..count)
            .map(|_| {
                let name = reader.text()?;
                let slots = (0..reader.number()?)
                    .map(|_| Some(Slot { offset: reader.number()?, nbytes: reader.number()? }))
                    .collect::<Option<Vec<_>>>()?;
                let entry = Entry { name, slots, record_offset: reader.number()? };
                let can_tell_groups = reader.flag()?;
                let kernel = BuiltKernel { entry, metadata: reader.metadata()?, can_tell_groups };
                is_consistent(&kernel).then_some(kernel)
            })
            .collect::<Option<Vec<_>>>()?;
        reader.end()?;
        return Some(Stage::Executable(Built::new(text, kernels)));
    }
    let kernels = (0..count).map(|_| reader.metadata()).collect::<Option<Vec<_>>>()?;
    reader.end()?;
    let object = Arc::new(OpenClObject { ir: text, kernels, log: String::new(), included: Vec::new() });
    match kind {
        1 => Some(Stage::Object(object)),
        2 => Some(Stage::Library(object)),
        _ => None,
    }
}

/// Whether a kernel is described as the pass over PTX does: each parameter of the program has a slot behind the one
/// before, none is larger than any device has room for, addresses have eight bytes, and the launch record is behind them.
fn is_consistent(kernel: &BuiltKernel) -> bool {
    let (entry, arguments) = (&kernel.entry, &kernel.metadata.arguments);
    let mut end = 0;
    let are_in_order = entry.slots.iter().all(|slot| {
        let is_behind = slot.offset >= end && slot.nbytes <= MAX_DESCRIBED_BYTES && slot.offset <= MAX_DESCRIBED_BYTES;
        end = slot.offset.saturating_add(slot.nbytes);
        is_behind
    });
    let fits = |(argument, slot): (&KernelArgument, &Slot)| {
        let is_address = argument.space != AddressSpace::Private || argument.type_name == "sampler_t";
        slot.nbytes == size_of::<u64>() || !is_address
    };
    entry.name == kernel.metadata.name
        && entry.slots.len() == arguments.len()
        && are_in_order
        && entry.record_offset == record_offset(&entry.slots)
        && arguments.iter().zip(&entry.slots).all(fits)
}

/// Whether the PTX of an executable has the kernels that it describes, and no others.
fn agrees_with_ptx(stage: &Stage) -> bool {
    let Stage::Executable(built) = stage else { return true };
    let parsed = rtcg_ptx::parse(built.ptx.as_str());
    let module = &parsed.module;
    let names: HashSet<&str> = built.kernels.iter().map(|kernel| kernel.entry.name.as_str()).collect();
    !parsed.has_errors()
        && names.len() == built.kernels.len()
        && module.functions.iter().filter(|function| function.entry).count() == built.kernels.len()
        && built.kernels.iter().all(|kernel| {
            module.find_kernel(&kernel.entry.name).is_some_and(|(_, function)| is_laid_out(&kernel.entry, function))
        })
}

/// Whether a kernel of PTX has the parameters of an entry, and the launch record as the last one.
fn is_laid_out(entry: &Entry, function: &Function) -> bool {
    let is_at =
        |param: &Param, offset: usize, nbytes: usize| (param.offset as usize, param.size as usize) == (offset, nbytes);
    let own = &function.params[..function.params.len().saturating_sub(1)];
    record_of(function).is_some_and(|record| is_at(record, entry.record_offset, RECORD_BYTES as usize))
        && own.len() == entry.slots.len()
        && own.iter().zip(&entry.slots).all(|(param, slot)| is_at(param, slot.offset, slot.nbytes))
}

fn check_sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: usize) {
        self.0.extend((number as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.extend(text.as_bytes());
    }

    fn size(&mut self, size: Option<[u32; 3]>) {
        self.number(usize::from(size.is_some()));
        size.into_iter().flatten().for_each(|extent| self.number(extent as usize));
    }

    fn metadata(&mut self, kernel: &KernelMetadata) {
        self.text(&kernel.name);
        self.size(kernel.required_size);
        self.size(kernel.size_hint);
        self.number(usize::from(kernel.uniform_groups));
        self.number(kernel.arguments.len());
        for argument in &kernel.arguments {
            self.number(match argument.space {
                AddressSpace::Private => 0,
                AddressSpace::Global => 1,
                AddressSpace::Constant => 2,
                AddressSpace::Local => 3,
            });
            for text in [&argument.access, &argument.type_name, &argument.qualifiers, &argument.name] {
                self.text(text);
            }
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<usize> {
        let (number, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        usize::try_from(u64::from_le_bytes(*number)).ok()
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    fn flag(&mut self) -> Option<bool> {
        match self.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// Nothing may follow.
    fn end(&self) -> Option<()> {
        self.0.is_empty().then_some(())
    }

    fn size(&mut self) -> Option<Option<[u32; 3]>> {
        if !self.flag()? {
            return Some(None);
        }
        let mut extent = || u32::try_from(self.number()?).ok().filter(|extent| *extent > 0);
        Some(Some([extent()?, extent()?, extent()?]))
    }

    fn metadata(&mut self) -> Option<KernelMetadata> {
        let (name, required_size, size_hint) = (self.text()?, self.size()?, self.size()?);
        let uniform_groups = self.flag()?;
        let arguments = (0..self.number()?)
            .map(|_| {
                let space = match self.number()? {
                    0 => AddressSpace::Private,
                    1 => AddressSpace::Global,
                    2 => AddressSpace::Constant,
                    3 => AddressSpace::Local,
                    _ => return None,
                };
                let (access, type_name) = (self.text()?, self.text()?);
                Some(KernelArgument { space, access, type_name, qualifiers: self.text()?, name: self.text()? })
            })
            .collect::<Option<Vec<_>>>()?;
        Some(KernelMetadata { name, arguments, required_size, size_hint, uniform_groups })
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateProgramWithBinary(
    context: cl_context,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    lengths: *const usize,
    binaries: *mut *const c_uchar,
    binary_status: *mut cl_int,
    errcode_ret: *mut cl_int,
) -> cl_program {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_program::NULL, || {
            let context = resolve::<ContextBody>(context)?;
            let devices = devices_of_list(num_devices, device_list)?;
            if lengths.is_null() || binaries.is_null() {
                return ClError::value("lengths, binaries: a list is null");
            }
            let mut decoded = None;
            for (index, device) in devices.iter().enumerate() {
                context.check_device(device)?;
                let (bytes, length) = (*binaries.add(index), *lengths.add(index));
                if bytes.is_null() || length == 0 {
                    return ClError::value(format!("binaries: number {index} is null or empty"));
                }
                let found = decode(std::slice::from_raw_parts(bytes, length)).filter(agrees_with_ptx);
                if !binary_status.is_null() {
                    *binary_status.add(index) = if found.is_some() { CL_SUCCESS } else { CL_INVALID_BINARY };
                }
                if found.is_none() {
                    return refuse(
                        CL_INVALID_BINARY,
                        format!("binaries: number {index} is none of this platform's version, or is damaged"),
                    );
                }
                decoded = decoded.or(found);
            }
            let Some(stage) = decoded else { return ClError::value("num_devices: there is none") };
            Ok(Ref::new_for_user(ProgramBody::new(context, devices, None, stage)))
        })
    }
}
