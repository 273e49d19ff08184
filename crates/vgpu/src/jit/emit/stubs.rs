//! Functions between cold places of compiled code and the Rust functions they call. They keep all
//! registers, so that a check that may fail costs nothing beside its test. The code is the same for all kernels: it is made
//! once for a process and never freed.
#![allow(unsafe_code)]

use super::compile::{isa, jit_module, signature};
use super::generate::{Gen, trusted};
use super::{slow, spread};
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{self, InstBuilder, Signature, UserFuncName, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::Module as _;
use std::sync::OnceLock;

/// Addresses of the functions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stubs {
    pub(crate) check_scalar: usize,
    pub(crate) check_lanes: usize,
    pub(crate) judge_scalar: usize,
    pub(crate) judge_lanes: usize,
    /// See [`super::spread`].
    pub(crate) spread: usize,
    pub(crate) steady: usize,
}

/// What a stub is passed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Context, site, size, mask, base and stride; the [`slow::SlowEnv`].
    Scalar,
    /// Context, site, size, mask, number of the chunk, addresses of its lanes; the [`slow::SlowEnv`].
    Lanes,
    /// Frame, pieces and their number.
    Pieces,
}

/// The stubs, made of instructions that every processor has when `baseline`.
pub(crate) fn get(baseline: bool) -> Result<Stubs, String> {
    static STUBS: [OnceLock<Result<Stubs, String>>; 2] = [const { OnceLock::new() }; 2];
    STUBS[usize::from(baseline)].get_or_init(|| make(baseline)).clone()
}

fn parameters(kind: Kind) -> Signature {
    let (p, w, v) = (types::I64, types::I32, types::I64X2);
    let list: &[ir::Type] = match kind {
        Kind::Scalar => &[p, w, w, w, p, p, p],
        Kind::Lanes => &[p, w, w, w, w, v, v, v, v, p],
        Kind::Pieces => &[p, p, w],
    };
    signature(list, None, CallConv::PreserveAll)
}

fn make(baseline: bool) -> Result<Stubs, String> {
    let mut jit = jit_module(isa(false, baseline)?)?;
    let targets = [
        (slow::scalar as *const () as usize, Kind::Scalar),
        (slow::chunk as *const () as usize, Kind::Lanes),
        (slow::judge_scalar as *const () as usize, Kind::Scalar),
        (slow::judge_chunk as *const () as usize, Kind::Lanes),
        (spread::spread as *const () as usize, Kind::Pieces),
        (spread::steady as *const () as usize, Kind::Pieces),
    ];
    let mut ids = vec![];
    for (target, kind) in targets {
        ids.push(define(&mut jit, target, kind)?);
    }
    jit.finalize_definitions().map_err(|e| e.to_string())?;
    let at: Vec<usize> = ids.into_iter().map(|id| jit.get_finalized_function(id) as usize).collect();
    // The code stays for ever.
    std::mem::forget(jit);
    Ok(Stubs {
        check_scalar: at[0],
        check_lanes: at[1],
        judge_scalar: at[2],
        judge_lanes: at[3],
        spread: at[4],
        steady: at[5],
    })
}

fn define(jit: &mut JITModule, target: usize, kind: Kind) -> Result<cranelift_module::FuncId, String> {
    let signature = parameters(kind);
    let id = jit.declare_anonymous_function(&signature).map_err(|e| e.to_string())?;
    let mut context = cranelift_codegen::Context::new();
    context.func.signature = signature;
    context.func.name = UserFuncName::user(0, id.as_u32());
    let mut builder = FunctionBuilderContext::new();
    let config = jit.isa().frontend_config();
    emit(FunctionBuilder::new(&mut context.func, &mut builder), target, kind, config);
    jit.define_function_with_control_plane(id, &mut context, &mut ControlPlane::default())
        .map_err(|e| format!("{e:?}"))?;
    Ok(id)
}

/// Passes the arguments on, with the addresses of a chunk's lanes in memory.
fn emit(mut b: FunctionBuilder<'_>, target: usize, kind: Kind, config: cranelift_codegen::isa::TargetFrontendConfig) {
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    b.seal_block(block);
    let p = b.block_params(block).to_vec();
    let args = if kind == Kind::Lanes {
        let slot = b.create_sized_stack_slot(ir::StackSlotData::new(ir::StackSlotKind::ExplicitSlot, 64, 4));
        let at = b.ins().stack_addr(types::I64, slot, 0);
        for (i, &v) in p[5..9].iter().enumerate() {
            b.ins().store(trusted(), v, at, i as i32 * 16);
        }
        vec![p[0], p[1], p[2], p[3], p[4], at, p[9]]
    } else {
        p
    };
    let types: Vec<ir::Type> = args.iter().map(|&a| b.func.dfg.value_type(a)).collect();
    let sig = b.import_signature(signature(&types, None, config.default_call_conv));
    let callee = b.ins().iconst(types::I64, target as i64);
    b.ins().call_indirect(sig, callee, &args);
    b.ins().return_(&[]);
    b.finalize(config);
}

impl Gen<'_, '_> {
    /// Calls a stub for lanes at a base and a stride.
    pub(crate) fn call_scalar_stub(&mut self, stub: usize, args: [Value; 6]) {
        self.call_with_env(stub, Kind::Scalar, &args);
    }

    /// Calls a stub for the lanes of a chunk at `addresses`.
    pub(crate) fn call_lanes_stub(&mut self, stub: usize, args: [Value; 5], addresses: &[Value]) {
        let mut all = args.to_vec();
        all.extend(addresses);
        self.call_with_env(stub, Kind::Lanes, &all);
    }

    /// Calls a stub for pieces of the frame.
    pub(crate) fn call_pieces_stub(&mut self, stub: usize, args: [Value; 3]) {
        self.call_stub(stub, Kind::Pieces, &args);
    }

    fn call_with_env(&mut self, stub: usize, kind: Kind, args: &[Value]) {
        let mut all = args.to_vec();
        all.push(self.iconst64(self.env.slow as i64));
        self.call_stub(stub, kind, &all);
    }

    fn call_stub(&mut self, stub: usize, kind: Kind, args: &[Value]) {
        let sig = self.b.import_signature(parameters(kind));
        let callee = self.iconst64(stub as i64);
        self.b.ins().call_indirect(sig, callee, args);
    }
}
