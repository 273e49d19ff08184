//! Relocations: the external references of machine code. A target means the same in every process, and in
//! every program that was built from the same sources. Code has an empty 8-byte slot for each, which is
//! filled when the image is loaded ([`super::image`]), so code can be cached and loaded by another process.
//!
//! Establishes that code holds no other addresses: this is the only file that makes constants of addresses,
//! and a test compares the code of two processes.
#![allow(unsafe_code, reason = "the table of functions is read by offsets, as compiled code does")]

use super::host_functions;
use crate::SymbolLayout;
use crate::emit::function::slow_paths::SlowPathEnv;
use crate::emit::instructions::matrix_encoding;
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature, Type, UserExternalName, Value, types};
use cranelift_frontend::FunctionBuilder;
use rtcg_ptx::ast::FuncId;
use rtcg_vgpu_abi::runtime::RuntimeCalls;
use rtcg_vgpu_softmath::interpolator::lanes::LaneFunction;
use std::collections::HashMap;

/// A thing that code refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RelocTarget {
    /// A function of the same image, by its number.
    ImageFunction(u32),
    /// A place of the same image, by its offset.
    ImageOffset(u32),
    /// The outer version of a function, for masked code.
    OuterFunction(u32),
    /// A function of the runtime, by its offset in [`RuntimeCalls`].
    RuntimeCall(u32),
    /// A function of this program, by its number among [`host_functions`].
    HostFunction(u32),
    /// A function of this program that has no number, by its distance from [`rust_text_anchor`]: code with such a link is of no
    /// use to other programs.
    UnlistedHostFunction(u32),
    /// The first address of the device window.
    WindowBase,
    /// The first state of the window's bytes.
    ShadowBase,
    /// [`rtcg_vgpu_abi::instrument::RaceCalls::access`]
    RaceAccess,
    /// [`rtcg_vgpu_abi::instrument::RaceCalls::sync`]
    RaceSync,
    /// [`crate::Instrumentation::local`]
    LocalMemory,
    /// A variable of the module, by its number.
    ModuleVariable(u32),
    /// A matrix product, packed.
    MatrixProduct(u64),
    /// A transfer of a matrix, packed.
    MatrixTransfer(u64),
    /// A function of eight lanes, by its number among [`LaneFunction`]: the version for the processor that runs the code.
    LaneFunction(u32),
    /// A function of all lanes of a warp, by the same number.
    WarpFunction(u32),
}

/// A function of the runtime, by the name of its field.
macro_rules! runtime_call_target {
    ($field:ident) => {
        $crate::emit::code::relocations::RelocTarget::RuntimeCall(
            std::mem::offset_of!($crate::RuntimeCalls, $field) as u32
        )
    };
}
pub(crate) use runtime_call_target;

/// Where distances of functions are counted from.
#[inline(never)]
extern "C" fn rust_text_anchor() {}

impl RelocTarget {
    /// The link to a function of this program.
    pub(crate) fn rust_function_target(address: usize) -> RelocTarget {
        host_functions::host_function_number(address)
            .map_or_else(|| RelocTarget::local_function_target(address), RelocTarget::HostFunction)
    }

    /// The distance between two functions of a program is the same wherever it is loaded, and less than 2 GiB.
    fn local_function_target(address: usize) -> RelocTarget {
        let distance = address.wrapping_sub(rust_text_anchor as *const () as usize) as isize;
        let near = i32::try_from(distance).ok();
        assert!(near.is_some(), "a function {distance} bytes away is none of this program");
        RelocTarget::UnlistedHostFunction(near.unwrap_or(0) as u32)
    }

    /// The function or table of this program that a link leads to.
    pub(crate) fn address_in_program(self) -> Option<usize> {
        match self {
            RelocTarget::LaneFunction(number) => lane_function_address(number),
            RelocTarget::WarpFunction(number) => warp_function_address(number),
            RelocTarget::HostFunction(number) => host_functions::host_function_address(number),
            RelocTarget::UnlistedHostFunction(distance) => {
                (rust_text_anchor as *const () as usize).checked_add_signed(distance as i32 as isize)
            }
            _ => None,
        }
    }

    /// The link as a number; [`RelocTarget::decode_target`] is the inverse.
    pub(crate) fn encode_target(self) -> u64 {
        let (kind, what) = match self {
            RelocTarget::ImageFunction(n) => (0, n.into()),
            RelocTarget::ImageOffset(n) => (1, n.into()),
            RelocTarget::OuterFunction(n) => (2, n.into()),
            RelocTarget::RuntimeCall(n) => (3, n.into()),
            RelocTarget::HostFunction(n) => (4, n.into()),
            RelocTarget::WindowBase => (5, 0),
            RelocTarget::ShadowBase => (6, 0),
            RelocTarget::RaceAccess => (7, 0),
            RelocTarget::RaceSync => (8, 0),
            RelocTarget::LocalMemory => (9, 0),
            RelocTarget::ModuleVariable(n) => (10, n.into()),
            RelocTarget::MatrixProduct(n) => (11, n),
            RelocTarget::MatrixTransfer(n) => (12, n),
            RelocTarget::UnlistedHostFunction(n) => (13, n.into()),
            RelocTarget::LaneFunction(n) => (14, n.into()),
            RelocTarget::WarpFunction(n) => (15, n.into()),
        };
        kind | what << 8
    }

    /// The link that a number stands for, if it is one.
    pub(crate) fn decode_target(number: u64) -> Option<RelocTarget> {
        let (what, small) = (number >> 8, (number >> 8) as u32);
        let link = match number & 0xff {
            0 => RelocTarget::ImageFunction(small),
            1 => RelocTarget::ImageOffset(small),
            2 => RelocTarget::OuterFunction(small),
            3 => RelocTarget::RuntimeCall(small),
            4 => RelocTarget::HostFunction(small),
            5 => RelocTarget::WindowBase,
            6 => RelocTarget::ShadowBase,
            7 => RelocTarget::RaceAccess,
            8 => RelocTarget::RaceSync,
            9 => RelocTarget::LocalMemory,
            10 => RelocTarget::ModuleVariable(small),
            11 => RelocTarget::MatrixProduct(what),
            12 => RelocTarget::MatrixTransfer(what),
            13 => RelocTarget::UnlistedHostFunction(small),
            14 => RelocTarget::LaneFunction(small),
            15 => RelocTarget::WarpFunction(small),
            _ => return None,
        };
        (link.encode_target() == number).then_some(link)
    }

    fn external_name(self) -> UserExternalName {
        let number = self.encode_target();
        UserExternalName { namespace: number as u32, index: (number >> 32) as u32 }
    }

    /// The link that a function being compiled names so.
    pub(crate) fn from_external_name(name: &UserExternalName) -> Option<RelocTarget> {
        RelocTarget::decode_target(u64::from(name.namespace) | u64::from(name.index) << 32)
    }
}

/// The address of the version of a lane function that this processor runs best.
fn lane_function_address(number: u32) -> Option<usize> {
    let function = LaneFunction::ALL.get(number as usize)?;
    Some(function.vector_address().unwrap_or_else(|| function.scalar_address()))
}

/// As [`lane_function_address`], for a warp.
fn warp_function_address(number: u32) -> Option<usize> {
    let function = LaneFunction::ALL.get(number as usize)?;
    Some(function.vector_warp_address().unwrap_or_else(|| function.scalar_warp_address()))
}

/// The reference of the function being compiled to `link`; `signature` makes that of a function.
fn function_reference(
    b: &mut FunctionBuilder<'_>,
    link: RelocTarget,
    signature: impl FnOnce(&mut FunctionBuilder<'_>) -> Signature,
) -> ir::FuncRef {
    let name = ir::ExternalName::user(b.func.declare_imported_user_function(link.external_name()));
    if let Some((known, _)) = b.func.dfg.ext_funcs.iter().find(|(_, data)| data.name == name) {
        return known;
    }
    let signature = signature(b);
    let signature = b.import_signature(signature);
    // Only functions of the same image are known to be near.
    let colocated = matches!(link, RelocTarget::ImageFunction(_));
    b.import_function(ir::ExtFuncData { name, signature, colocated, patchable: false })
}

/// The address that a link stands for.
pub(crate) fn target_address(b: &mut FunctionBuilder<'_>, link: RelocTarget) -> Value {
    let target = function_reference(b, link, |b| Signature::new(b.func.signature.call_conv));
    b.ins().func_addr(types::I64, target)
}

/// Calls the function that a link stands for, with the C calling convention.
pub(crate) fn call_target(
    b: &mut FunctionBuilder<'_>,
    link: RelocTarget,
    args: &[Value],
    ret: Option<Type>,
) -> Option<Value> {
    // Compiled functions are `extern "C"` themselves, so a Rust function has their convention.
    let target = function_reference(b, link, |b| host_signature(b, args, ret));
    let call = b.ins().call(target, args);
    ret.map(|_| b.inst_results(call)[0])
}

/// Calls the function that a link stands for and whose signature is `signature`.
pub(crate) fn call_target_with_signature(
    b: &mut FunctionBuilder<'_>,
    link: RelocTarget,
    signature: Signature,
    args: &[Value],
) {
    let target = function_reference(b, link, |_| signature);
    b.ins().call(target, args);
}

/// Calls a function with the C calling convention by an address that the code computes.
pub(crate) fn call_computed_address(
    b: &mut FunctionBuilder<'_>,
    callee: Value,
    args: &[Value],
    ret: Option<Type>,
) -> Option<Value> {
    let signature = host_signature(b, args, ret);
    let signature = b.import_signature(signature);
    let call = b.ins().call_indirect(signature, callee, args);
    ret.map(|_| b.inst_results(call)[0])
}

fn host_signature(b: &FunctionBuilder<'_>, args: &[Value], ret: Option<Type>) -> Signature {
    let mut signature = Signature::new(b.func.signature.call_conv);
    signature.params.extend(args.iter().map(|&a| AbiParam::new(b.func.dfg.value_type(a))));
    signature.returns.extend(ret.map(AbiParam::new));
    signature
}

/// Where the things are that code of a kernel refers to.
pub(crate) struct RelocResolver<'a> {
    pub(crate) env: &'a SlowPathEnv,
    pub(crate) symbols: &'a SymbolLayout,
    /// The outer functions, for masked code.
    pub(crate) outer: Option<&'a HashMap<FuncId, usize>>,
}

impl RelocResolver<'_> {
    /// The address for a link that leads out of the image; `None` where there is no such thing.
    pub(crate) fn resolve_address(&self, link: RelocTarget) -> Option<usize> {
        let check = &self.env.instrument;
        match link {
            RelocTarget::ImageFunction(_) | RelocTarget::ImageOffset(_) => None,
            RelocTarget::OuterFunction(f) => self.outer?.get(&FuncId(f)).copied(),
            RelocTarget::RuntimeCall(offset) => runtime_function_address(&self.env.runtime, offset as usize),
            RelocTarget::HostFunction(_)
            | RelocTarget::UnlistedHostFunction(_)
            | RelocTarget::LaneFunction(_)
            | RelocTarget::WarpFunction(_) => link.address_in_program(),
            RelocTarget::WindowBase => Some(self.env.window.base as usize),
            RelocTarget::ShadowBase => check.memory.map(|states| states.base as usize),
            RelocTarget::RaceAccess => check.race.map(|race| race.access as usize),
            RelocTarget::RaceSync => check.race.map(|race| race.sync as usize),
            RelocTarget::LocalMemory => Some(check.local as usize),
            RelocTarget::ModuleVariable(n) => self.symbols.globals.get(n as usize).map(|&a| a as usize),
            RelocTarget::MatrixProduct(form) => {
                Some(std::ptr::from_ref(matrix_encoding::decode_product(form)?) as usize)
            }
            RelocTarget::MatrixTransfer(form) => {
                Some(std::ptr::from_ref(matrix_encoding::decode_transfer(form)?) as usize)
            }
        }
    }
}

fn runtime_function_address(calls: &RuntimeCalls, offset: usize) -> Option<usize> {
    let word = size_of::<usize>();
    if !offset.is_multiple_of(word) || offset >= size_of::<RuntimeCalls>() {
        return None;
    }
    // SAFETY: the structure consists of function pointers, and one lies at this offset.
    Some(unsafe { std::ptr::from_ref(calls).cast::<usize>().add(offset / word).read() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reloc_targets_round_trip() {
        let links = [
            RelocTarget::ImageFunction(7),
            RelocTarget::ImageOffset(u32::MAX),
            RelocTarget::OuterFunction(3),
            runtime_call_target!(matrix),
            RelocTarget::rust_function_target(rust_text_anchor as *const () as usize),
            RelocTarget::rust_function_target(
                crate::emit::function::slow_paths::resolve_parked_barriers as *const () as usize,
            ),
            RelocTarget::WindowBase,
            RelocTarget::ShadowBase,
            RelocTarget::RaceAccess,
            RelocTarget::RaceSync,
            RelocTarget::LocalMemory,
            RelocTarget::ModuleVariable(9),
            RelocTarget::MatrixProduct(1 << 40 | 3),
            RelocTarget::MatrixTransfer(5),
            RelocTarget::LaneFunction(7),
        ];
        for link in links {
            assert_eq!(RelocTarget::decode_target(link.encode_target()), Some(link));
            assert_eq!(RelocTarget::from_external_name(&link.external_name()), Some(link));
        }
        assert_eq!(RelocTarget::decode_target(200), None);
        assert_eq!(
            RelocTarget::decode_target(RelocTarget::WindowBase.encode_target() | 1 << 8),
            None,
            "a link without a number has none"
        );
        assert_eq!(
            RelocTarget::decode_target(RelocTarget::ImageFunction(0).encode_target() | 1 << 50),
            None,
            "a number is too large"
        );
    }

    #[test]
    fn rust_function_targets_round_trip() {
        let known = crate::emit::function::slow_paths::resolve_parked_barriers as *const () as usize;
        let unknown = runtime_function_address as *const () as usize;
        assert!(matches!(RelocTarget::rust_function_target(known), RelocTarget::HostFunction(_)));
        assert!(matches!(RelocTarget::rust_function_target(unknown), RelocTarget::UnlistedHostFunction(_)));
        assert_eq!(
            [known, unknown].map(|f| RelocTarget::rust_function_target(f).address_in_program()),
            [Some(known), Some(unknown)]
        );
    }
}
