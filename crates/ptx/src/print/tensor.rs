//! Matrix instructions to text.

use super::FunctionPrinter;
use super::inst::{space_suffix, text_if};
use crate::ast::*;
use crate::keywords::{matrix_type_name, rounding_name};

fn layout_suffix(layout: MatrixLayout) -> &'static str {
    match layout {
        MatrixLayout::Row => "row",
        MatrixLayout::Col => "col",
    }
}

fn shape_suffix(shape: MatrixShape) -> String {
    format!("m{}n{}k{}", shape.m, shape.n, shape.k)
}

fn combine_op_suffix(op: MmaCombineOp) -> &'static str {
    match op {
        MmaCombineOp::Multiply => "",
        MmaCombineOp::XorPopc => ".xor.popc",
        MmaCombineOp::AndPopc => ".and.popc",
    }
}

/// Opcode and modifiers of a product.
fn mma_opcode(f: &MatrixProduct) -> String {
    let t = matrix_type_name;
    let rnd = if f.rnd == Rounding::Default { String::new() } else { format!(".{}", rounding_name(f.rnd)) };
    let (layouts, shape) =
        (format!("{}.{}", layout_suffix(f.a_layout), layout_suffix(f.b_layout)), shape_suffix(f.shape));
    if f.wmma {
        let inputs = if f.a == MatrixType::F16 { String::new() } else { format!(".{}.{}", t(f.a), t(f.b)) };
        let sat = text_if(f.satfinite, ".satfinite");
        return format!(
            "wmma.mma{}.sync.aligned.{layouts}.{shape}{rnd}.{}{inputs}.{}{sat}",
            combine_op_suffix(f.op),
            t(f.d),
            t(f.c)
        );
    }
    let sparse = match f.sparse {
        Some(Sparsity { ordered: true, .. }) => ".sp::ordered_metadata",
        Some(_) => ".sp",
        None => "",
    };
    let (sat, op) = (text_if(f.satfinite, ".satfinite"), combine_op_suffix(f.op));
    let types = format!("{}.{}.{}.{}", t(f.d), t(f.a), t(f.b), t(f.c));
    format!("mma{sparse}.sync.aligned.{shape}.{layouts}{sat}{rnd}.{types}{op}")
}

impl FunctionPrinter<'_> {
    fn fragment_dst_text(&self, list: &[Reg]) -> String {
        let names: Vec<&str> = list.iter().map(|&reg| self.reg_name(reg)).collect();
        format!("{{{}}}", names.join(", "))
    }

    fn fragment_src_text(&self, list: &[Operand]) -> String {
        let names: Vec<String> = list.iter().map(|operand| self.operand_text(operand)).collect();
        format!("{{{}}}", names.join(", "))
    }

    pub(super) fn matrix_text(&self, inst: &MatrixInst) -> String {
        let tail = |o: &Option<Operand>| o.iter().map(|o| format!(", {}", self.operand_text(o))).collect::<String>();
        match inst {
            MatrixInst::WmmaLoad { role, layout: order, shape: size, ty, space: s, dsts, addr, stride } => {
                let role = match role {
                    MatrixRole::A => "a",
                    MatrixRole::B => "b",
                    MatrixRole::C | MatrixRole::D => "c",
                };
                let form = format!(
                    "{}.{}{}.{}",
                    layout_suffix(*order),
                    shape_suffix(*size),
                    space_suffix(*s),
                    matrix_type_name(*ty)
                );
                let (dsts, addr) = (self.fragment_dst_text(dsts), self.addr_text(addr));
                format!("wmma.load.{role}.sync.aligned.{form} {dsts}, {addr}{}", tail(stride))
            }
            MatrixInst::WmmaStore { layout: order, shape: size, ty, space: s, addr, srcs, stride } => {
                let form = format!(
                    "{}.{}{}.{}",
                    layout_suffix(*order),
                    shape_suffix(*size),
                    space_suffix(*s),
                    matrix_type_name(*ty)
                );
                let (srcs, addr) = (self.fragment_src_text(srcs), self.addr_text(addr));
                format!("wmma.store.d.sync.aligned.{form} {addr}, {srcs}{}", tail(stride))
            }
            MatrixInst::Product { form, d, a, b, c, metadata } => {
                let selector = form.sparse.map_or(String::new(), |s| format!("{}, {}", tail(metadata), s.selector));
                let sources = [a, b, c].map(|list| self.fragment_src_text(list)).join(", ");
                format!("{} {}, {sources}{selector}", mma_opcode(form), self.fragment_dst_text(d))
            }
            MatrixInst::LdMatrix { trans, space: s, dsts, addr } => {
                let form = format!("x{}{}{}", dsts.len(), text_if(*trans, ".trans"), space_suffix(*s));
                format!(
                    "ldmatrix.sync.aligned.m8n8.{form}.b16 {}, {}",
                    self.fragment_dst_text(dsts),
                    self.addr_text(addr)
                )
            }
            MatrixInst::StMatrix { trans, space: s, addr, srcs } => {
                let form = format!("x{}{}{}", srcs.len(), text_if(*trans, ".trans"), space_suffix(*s));
                format!(
                    "stmatrix.sync.aligned.m8n8.{form}.b16 {}, {}",
                    self.addr_text(addr),
                    self.fragment_src_text(srcs)
                )
            }
            MatrixInst::MovMatrix { dst, src } => {
                format!("movmatrix.sync.aligned.m8n8.trans.b16 {}, {}", self.reg_name(*dst), self.operand_text(src))
            }
        }
    }
}
