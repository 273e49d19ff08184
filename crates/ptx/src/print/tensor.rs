//! Matrix instructions to text.

use super::InFunction;
use super::inst::{flag, space};
use crate::ast::*;
use crate::names::{matrix_type_name, rounding_name};

fn layout(layout: MatrixLayout) -> &'static str {
    match layout {
        MatrixLayout::Row => "row",
        MatrixLayout::Col => "col",
    }
}

fn shape(shape: MatrixShape) -> String {
    format!("m{}n{}k{}", shape.m, shape.n, shape.k)
}

fn op(op: MatrixOp) -> &'static str {
    match op {
        MatrixOp::Multiply => "",
        MatrixOp::XorPopc => ".xor.popc",
        MatrixOp::AndPopc => ".and.popc",
    }
}

/// Opcode and modifiers of a product.
fn product(f: &MatrixProduct) -> String {
    let t = matrix_type_name;
    let rnd = if f.rnd == Rounding::Default { String::new() } else { format!(".{}", rounding_name(f.rnd)) };
    let (layouts, shape) = (format!("{}.{}", layout(f.a_layout), layout(f.b_layout)), shape(f.shape));
    if f.wmma {
        let inputs = if f.a == MatrixType::F16 { String::new() } else { format!(".{}.{}", t(f.a), t(f.b)) };
        let sat = flag(f.satfinite, ".satfinite");
        return format!("wmma.mma{}.sync.aligned.{layouts}.{shape}{rnd}.{}{inputs}.{}{sat}", op(f.op), t(f.d), t(f.c));
    }
    let sparse = match f.sparse {
        Some(Sparsity { ordered: true, .. }) => ".sp::ordered_metadata",
        Some(_) => ".sp",
        None => "",
    };
    let (sat, op) = (flag(f.satfinite, ".satfinite"), op(f.op));
    let types = format!("{}.{}.{}.{}", t(f.d), t(f.a), t(f.b), t(f.c));
    format!("mma{sparse}.sync.aligned.{shape}.{layouts}{sat}{rnd}.{types}{op}")
}

impl InFunction<'_> {
    fn written(&self, list: &[Reg]) -> String {
        let names: Vec<&str> = list.iter().map(|&reg| self.reg(reg)).collect();
        format!("{{{}}}", names.join(", "))
    }

    fn read(&self, list: &[Operand]) -> String {
        let names: Vec<String> = list.iter().map(|operand| self.operand(operand)).collect();
        format!("{{{}}}", names.join(", "))
    }

    pub(super) fn matrix(&self, inst: &MatrixInst) -> String {
        let tail = |o: &Option<Operand>| o.iter().map(|o| format!(", {}", self.operand(o))).collect::<String>();
        match inst {
            MatrixInst::WmmaLoad { role, layout: order, shape: size, ty, space: s, dsts, addr, stride } => {
                let role = match role {
                    MatrixRole::A => "a",
                    MatrixRole::B => "b",
                    MatrixRole::C | MatrixRole::D => "c",
                };
                let form = format!("{}.{}{}.{}", layout(*order), shape(*size), space(*s), matrix_type_name(*ty));
                let (dsts, addr) = (self.written(dsts), self.addr(addr));
                format!("wmma.load.{role}.sync.aligned.{form} {dsts}, {addr}{}", tail(stride))
            }
            MatrixInst::WmmaStore { layout: order, shape: size, ty, space: s, addr, srcs, stride } => {
                let form = format!("{}.{}{}.{}", layout(*order), shape(*size), space(*s), matrix_type_name(*ty));
                let (srcs, addr) = (self.read(srcs), self.addr(addr));
                format!("wmma.store.d.sync.aligned.{form} {addr}, {srcs}{}", tail(stride))
            }
            MatrixInst::Product { form, d, a, b, c, metadata } => {
                let selector = form.sparse.map_or(String::new(), |s| format!("{}, {}", tail(metadata), s.selector));
                let sources = [a, b, c].map(|list| self.read(list)).join(", ");
                format!("{} {}, {sources}{selector}", product(form), self.written(d))
            }
            MatrixInst::LdMatrix { trans, space: s, dsts, addr } => {
                let form = format!("x{}{}{}", dsts.len(), flag(*trans, ".trans"), space(*s));
                format!("ldmatrix.sync.aligned.m8n8.{form}.b16 {}, {}", self.written(dsts), self.addr(addr))
            }
            MatrixInst::StMatrix { trans, space: s, addr, srcs } => {
                let form = format!("x{}{}{}", srcs.len(), flag(*trans, ".trans"), space(*s));
                format!("stmatrix.sync.aligned.m8n8.{form}.b16 {}, {}", self.addr(addr), self.read(srcs))
            }
            MatrixInst::MovMatrix { dst, src } => {
                format!("movmatrix.sync.aligned.m8n8.trans.b16 {}, {}", self.reg(*dst), self.operand(src))
            }
        }
    }
}
