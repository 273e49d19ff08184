//! What machine code refers to outside of itself, each thing by a name that means the same in every
//! process, and in every program that was built from the same sources. Code holds an empty place for each, which is filled when it is put into memory
//! ([`super::image`]), so the same code can be kept and put into the memory of another process.
//!
//! Establishes that code holds no address otherwise: this is the only place that makes constants of
//! addresses, and a test compares code that two processes made.
#![allow(unsafe_code)]

use super::{forms, slow::SlowEnv, symbols};
use crate::jit::SymbolLayout;
use crate::jit::runtime::RuntimeCalls;
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature, Type, UserExternalName, Value, types};
use cranelift_frontend::FunctionBuilder;
use rtcg_ptx::ast::FuncId;
use std::collections::HashMap;

/// A thing that code refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Link {
    /// A function of the same image, by its number.
    Own(u32),
    /// A place of the same image, by its offset.
    Place(u32),
    /// The outer version of a function, for masked code.
    Outer(u32),
    /// A function of the runtime, by its offset in [`RuntimeCalls`].
    Runtime(u32),
    /// A function of this program, by its number among [`symbols`].
    Rust(u32),
    /// A function of this program that has no number, by its distance from [`anchor`]: code with such a link is of no
    /// use to other programs.
    Local(u32),
    /// The first address of the device window.
    Window,
    /// The first state of the window's bytes.
    States,
    /// [`crate::jit::instrument::RaceCalls::access`]
    NoteAccess,
    /// [`crate::jit::instrument::RaceCalls::sync`]
    NoteSync,
    /// [`crate::jit::Instrument::local`]
    NoteLocal,
    /// A variable of the module, by its number.
    Variable(u32),
    /// A matrix product, packed.
    Product(u64),
    /// A transfer of a matrix, packed.
    Transfer(u64),
}

/// A function of the runtime, by the name of its field.
macro_rules! runtime {
    ($field:ident) => {
        $crate::jit::emit::links::Link::Runtime(std::mem::offset_of!($crate::jit::RuntimeCalls, $field) as u32)
    };
}
pub(crate) use runtime;

/// Where distances of functions are counted from.
#[inline(never)]
extern "C" fn anchor() {}

impl Link {
    /// The link to a function of this program.
    pub(crate) fn rust(address: usize) -> Link {
        symbols::number(address).map_or_else(|| Link::local(address), Link::Rust)
    }

    /// The distance between two functions of a program is the same wherever it is loaded, and less than 2 GiB.
    fn local(address: usize) -> Link {
        let distance = address.wrapping_sub(anchor as *const () as usize) as isize;
        let near = i32::try_from(distance).ok();
        assert!(near.is_some(), "a function {distance} bytes away is none of this program");
        Link::Local(near.unwrap_or(0) as u32)
    }

    /// The function of this program that a link leads to.
    pub(crate) fn rust_function(self) -> Option<usize> {
        match self {
            Link::Rust(number) => symbols::address(number),
            Link::Local(distance) => (anchor as *const () as usize).checked_add_signed(distance as i32 as isize),
            _ => None,
        }
    }

    /// The link as a number; [`Link::decode`] is the inverse.
    pub(crate) fn encode(self) -> u64 {
        let (kind, what) = match self {
            Link::Own(n) => (0, n.into()),
            Link::Place(n) => (1, n.into()),
            Link::Outer(n) => (2, n.into()),
            Link::Runtime(n) => (3, n.into()),
            Link::Rust(n) => (4, n.into()),
            Link::Window => (5, 0),
            Link::States => (6, 0),
            Link::NoteAccess => (7, 0),
            Link::NoteSync => (8, 0),
            Link::NoteLocal => (9, 0),
            Link::Variable(n) => (10, n.into()),
            Link::Product(n) => (11, n),
            Link::Transfer(n) => (12, n),
            Link::Local(n) => (13, n.into()),
        };
        kind | what << 8
    }

    /// The link that a number stands for, if it is one.
    pub(crate) fn decode(number: u64) -> Option<Link> {
        let (what, small) = (number >> 8, (number >> 8) as u32);
        let link = match number & 0xff {
            0 => Link::Own(small),
            1 => Link::Place(small),
            2 => Link::Outer(small),
            3 => Link::Runtime(small),
            4 => Link::Rust(small),
            5 => Link::Window,
            6 => Link::States,
            7 => Link::NoteAccess,
            8 => Link::NoteSync,
            9 => Link::NoteLocal,
            10 => Link::Variable(small),
            11 => Link::Product(what),
            12 => Link::Transfer(what),
            13 => Link::Local(small),
            _ => return None,
        };
        (link.encode() == number).then_some(link)
    }

    fn name(self) -> UserExternalName {
        let number = self.encode();
        UserExternalName { namespace: number as u32, index: (number >> 32) as u32 }
    }

    /// The link that a function being compiled names so.
    pub(crate) fn of_name(name: &UserExternalName) -> Option<Link> {
        Link::decode(u64::from(name.namespace) | u64::from(name.index) << 32)
    }
}

/// The reference of the function being compiled to `link`; `signature` makes that of a function.
fn reference(
    b: &mut FunctionBuilder<'_>,
    link: Link,
    signature: impl FnOnce(&mut FunctionBuilder<'_>) -> Signature,
) -> ir::FuncRef {
    let name = ir::ExternalName::user(b.func.declare_imported_user_function(link.name()));
    if let Some((known, _)) = b.func.dfg.ext_funcs.iter().find(|(_, data)| data.name == name) {
        return known;
    }
    let signature = signature(b);
    let signature = b.import_signature(signature);
    // Only functions of the same image are known to be near.
    let colocated = matches!(link, Link::Own(_));
    b.import_function(ir::ExtFuncData { name, signature, colocated, patchable: false })
}

/// The address that a link stands for.
pub(crate) fn address(b: &mut FunctionBuilder<'_>, link: Link) -> Value {
    let target = reference(b, link, |b| Signature::new(b.func.signature.call_conv));
    b.ins().func_addr(types::I64, target)
}

/// Calls the function that a link stands for, with the C calling convention.
pub(crate) fn call(b: &mut FunctionBuilder<'_>, link: Link, args: &[Value], ret: Option<Type>) -> Option<Value> {
    // Compiled functions are `extern "C"` themselves, so a Rust function has their convention.
    let target = reference(b, link, |b| host_signature(b, args, ret));
    let call = b.ins().call(target, args);
    ret.map(|_| b.inst_results(call)[0])
}

/// Calls the function that a link stands for and whose signature is `signature`.
pub(crate) fn call_as(b: &mut FunctionBuilder<'_>, link: Link, signature: Signature, args: &[Value]) {
    let target = reference(b, link, |_| signature);
    b.ins().call(target, args);
}

/// Calls a function with the C calling convention by an address that the code computes.
pub(crate) fn call_computed(
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
pub(crate) struct Targets<'a> {
    pub(crate) env: &'a SlowEnv,
    pub(crate) symbols: &'a SymbolLayout,
    /// The outer functions, for masked code.
    pub(crate) outer: Option<&'a HashMap<FuncId, usize>>,
}

impl Targets<'_> {
    /// The address for a link that leads out of the image; `None` where there is no such thing.
    pub(crate) fn address(&self, link: Link) -> Option<usize> {
        let check = &self.env.instrument;
        match link {
            Link::Own(_) | Link::Place(_) => None,
            Link::Outer(f) => self.outer?.get(&FuncId(f)).copied(),
            Link::Runtime(offset) => runtime_function(&self.env.runtime, offset as usize),
            Link::Rust(_) | Link::Local(_) => link.rust_function(),
            Link::Window => Some(self.env.window.base as usize),
            Link::States => check.memory.map(|states| states.base as usize),
            Link::NoteAccess => check.race.map(|race| race.access as usize),
            Link::NoteSync => check.race.map(|race| race.sync as usize),
            Link::NoteLocal => Some(check.local as usize),
            Link::Variable(n) => self.symbols.globals.get(n as usize).map(|&a| a as usize),
            Link::Product(form) => Some(std::ptr::from_ref(forms::product_of(form)?) as usize),
            Link::Transfer(form) => Some(std::ptr::from_ref(forms::transfer_of(form)?) as usize),
        }
    }
}

fn runtime_function(calls: &RuntimeCalls, offset: usize) -> Option<usize> {
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
    fn links_survive_their_numbers() {
        let links = [
            Link::Own(7),
            Link::Place(u32::MAX),
            Link::Outer(3),
            runtime!(matrix),
            Link::rust(anchor as *const () as usize),
            Link::rust(super::super::slow::barrier as *const () as usize),
            Link::Window,
            Link::States,
            Link::NoteAccess,
            Link::NoteSync,
            Link::NoteLocal,
            Link::Variable(9),
            Link::Product(1 << 40 | 3),
            Link::Transfer(5),
        ];
        for link in links {
            assert_eq!(Link::decode(link.encode()), Some(link));
            assert_eq!(Link::of_name(&link.name()), Some(link));
        }
        assert_eq!(Link::decode(200), None);
        assert_eq!(Link::decode(Link::Window.encode() | 1 << 8), None, "a link without a number has none");
        assert_eq!(Link::decode(Link::Own(0).encode() | 1 << 50), None, "a number is too large");
    }

    #[test]
    fn functions_of_the_program_are_found_again() {
        let known = super::super::slow::barrier as *const () as usize;
        let unknown = runtime_function as *const () as usize;
        assert!(matches!(Link::rust(known), Link::Rust(_)));
        assert!(matches!(Link::rust(unknown), Link::Local(_)));
        assert_eq!([known, unknown].map(|f| Link::rust(f).rust_function()), [Some(known), Some(unknown)]);
    }
}
