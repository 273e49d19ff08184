//! The function between cold places of compiled code and the Rust function that serves them
//! ([`super::cold`]). It keeps all registers, so that a check that may fail costs nothing beside its
//! test. The code is the same for all kernels: it is made once for a process and never freed.
#![allow(unsafe_code)]

use super::cold;
use super::compile::{isa, jit_module, signature};
use super::generate::Gen;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{InstBuilder, Signature, UserFuncName, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::Module as _;
use std::sync::OnceLock;

/// The address of the stub, made of instructions that every processor has when `baseline`.
pub(crate) fn get(baseline: bool) -> Result<usize, String> {
    static STUBS: [OnceLock<Result<usize, String>>; 2] = [const { OnceLock::new() }; 2];
    STUBS[usize::from(baseline)].get_or_init(|| make(baseline)).clone()
}

/// Context, frame and record.
fn parameters(conv: CallConv) -> Signature {
    signature(&[types::I64; 3], None, conv)
}

fn make(baseline: bool) -> Result<usize, String> {
    let mut jit = jit_module(isa(false, baseline)?)?;
    let id = define(&mut jit)?;
    jit.finalize_definitions().map_err(|e| e.to_string())?;
    let at = jit.get_finalized_function(id) as usize;
    // The code stays for ever.
    std::mem::forget(jit);
    Ok(at)
}

fn define(jit: &mut JITModule) -> Result<cranelift_module::FuncId, String> {
    let signature = parameters(CallConv::PreserveAll);
    let id = jit.declare_anonymous_function(&signature).map_err(|e| e.to_string())?;
    let mut context = cranelift_codegen::Context::new();
    context.func.signature = signature;
    context.func.name = UserFuncName::user(0, id.as_u32());
    let mut builder = FunctionBuilderContext::new();
    let config = jit.isa().frontend_config();
    let mut b = FunctionBuilder::new(&mut context.func, &mut builder);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    b.seal_block(block);
    let args = b.block_params(block).to_vec();
    let sig = b.import_signature(parameters(config.default_call_conv));
    let callee = b.ins().iconst(types::I64, cold::run as *const () as i64);
    b.ins().call_indirect(sig, callee, &args);
    b.ins().return_(&[]);
    b.finalize(config);
    jit.define_function_with_control_plane(id, &mut context, &mut ControlPlane::default())
        .map_err(|e| format!("{e:?}"))?;
    Ok(id)
}

impl Gen<'_, '_> {
    /// Calls the stub with context, frame and record.
    pub(crate) fn call_stub(&mut self, args: &[Value; 3]) {
        let sig = match self.stub_signature {
            Some(sig) => sig,
            None => self.b.import_signature(parameters(CallConv::PreserveAll)),
        };
        self.stub_signature = Some(sig);
        let callee = self.iconst64(self.env.stub as i64);
        self.b.ins().call_indirect(sig, callee, args);
    }
}
