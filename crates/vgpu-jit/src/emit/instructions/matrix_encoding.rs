//! Matrix instructions as numbers, which links hold, and the forms that the numbers stand for: they
//! live for ever, for compiled code to point to. There are some hundreds at most.

use crate::emit::code::relocations::RelocTarget;
use rtcg_ptx::ast::{
    MatrixLayout, MatrixProduct, MatrixRole, MatrixShape, MatrixType, MmaCombineOp, Rounding, Sparsity,
};
use rtcg_vgpu_abi::runtime::MatrixTransfer;
use rtcg_vgpu_softmath::matrix::intern_instruction_form;
use std::sync::Mutex;

static INTERNED_PRODUCTS: Mutex<Vec<&'static MatrixProduct>> = Mutex::new(Vec::new());
static INTERNED_TRANSFERS: Mutex<Vec<&'static MatrixTransfer>> = Mutex::new(Vec::new());

const MATRIX_TYPES: [MatrixType; 13] = {
    use MatrixType::*;
    [F16, BF16, TF32, F32, F64, S8, U8, S4, U4, B1, S32, E4M3, E5M2]
};
const MATRIX_LAYOUTS: [MatrixLayout; 2] = [MatrixLayout::Row, MatrixLayout::Col];
const MATRIX_ROLES: [MatrixRole; 4] = [MatrixRole::A, MatrixRole::B, MatrixRole::C, MatrixRole::D];
const COMBINE_OPS: [MmaCombineOp; 3] = [MmaCombineOp::Multiply, MmaCombineOp::XorPopc, MmaCombineOp::AndPopc];
const ROUNDINGS: [Rounding; 10] = {
    use Rounding::*;
    [Default, Rn, Rz, Rm, Rp, Rna, Rni, Rzi, Rmi, Rpi]
};

/// Numbers of a few bits in a word, the first one lowest.
#[derive(Default)]
struct BitPacker {
    word: u64,
    used: u32,
}

impl BitPacker {
    fn push_bits(&mut self, value: u64, width: u32) -> Option<()> {
        self.word |= value << self.used;
        self.used += width;
        (value >> width == 0).then_some(())
    }

    fn push_index_of<T: PartialEq>(&mut self, list: &[T], value: T) -> Option<()> {
        self.push_bits(list.iter().position(|x| *x == value)? as u64, 4)
    }

    /// Sizes are powers of two.
    fn push_shape(&mut self, shape: MatrixShape) -> Option<()> {
        [shape.m, shape.n, shape.k].into_iter().try_for_each(|size| {
            size.is_power_of_two().then_some(())?;
            self.push_bits(u64::from(size.ilog2()), 4)
        })
    }
}

/// The inverse of [`BitPacker`].
struct BitUnpacker(u64);

impl BitUnpacker {
    fn take_bits(&mut self, width: u32) -> u64 {
        let value = self.0 & ((1 << width) - 1);
        self.0 >>= width;
        value
    }

    fn take_flag(&mut self) -> bool {
        self.take_bits(1) != 0
    }

    fn take_list_item<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        list.get(self.take_bits(4) as usize).copied()
    }

    fn take_shape(&mut self) -> MatrixShape {
        let [m, n, k] = [(); 3].map(|()| 1 << self.take_bits(4));
        MatrixShape { m, n, k }
    }
}

/// The link to a product; `None` for one of an unknown shape.
pub(super) fn encode_product(form: &MatrixProduct) -> Option<RelocTarget> {
    let mut p = BitPacker::default();
    p.push_bits(form.wmma.into(), 1)?;
    p.push_shape(form.shape)?;
    p.push_index_of(&MATRIX_LAYOUTS, form.a_layout)?;
    p.push_index_of(&MATRIX_LAYOUTS, form.b_layout)?;
    [form.a, form.b, form.c, form.d].into_iter().try_for_each(|ty| p.push_index_of(&MATRIX_TYPES, ty))?;
    p.push_index_of(&COMBINE_OPS, form.op)?;
    p.push_bits(form.satfinite.into(), 1)?;
    p.push_index_of(&ROUNDINGS, form.rnd)?;
    p.push_bits(form.sparse.is_some().into(), 1)?;
    if let Some(sparse) = form.sparse {
        p.push_bits(sparse.ordered.into(), 1)?;
        p.push_bits(sparse.selector.into(), 2)?;
    }
    Some(RelocTarget::MatrixProduct(p.word))
}

/// The product that a link's number stands for.
pub(in crate::emit) fn decode_product(word: u64) -> Option<&'static MatrixProduct> {
    let mut u = BitUnpacker(word);
    let form = MatrixProduct {
        wmma: u.take_flag(),
        shape: u.take_shape(),
        a_layout: u.take_list_item(&MATRIX_LAYOUTS)?,
        b_layout: u.take_list_item(&MATRIX_LAYOUTS)?,
        a: u.take_list_item(&MATRIX_TYPES)?,
        b: u.take_list_item(&MATRIX_TYPES)?,
        c: u.take_list_item(&MATRIX_TYPES)?,
        d: u.take_list_item(&MATRIX_TYPES)?,
        op: u.take_list_item(&COMBINE_OPS)?,
        satfinite: u.take_flag(),
        rnd: u.take_list_item(&ROUNDINGS)?,
        sparse: if u.take_flag() {
            Some(Sparsity { ordered: u.take_flag(), selector: u.take_bits(2) as u8 })
        } else {
            None
        },
    };
    Some(intern_instruction_form(&INTERNED_PRODUCTS, form))
}

/// The link to a transfer; `None` for one of an unknown shape.
pub(super) fn encode_transfer(form: &MatrixTransfer) -> Option<RelocTarget> {
    let mut p = BitPacker::default();
    match *form {
        MatrixTransfer::Wmma { role, layout, shape, ty, store } => {
            p.push_bits(0, 1)?;
            p.push_bits(store.into(), 1)?;
            p.push_index_of(&MATRIX_ROLES, role)?;
            p.push_index_of(&MATRIX_LAYOUTS, layout)?;
            p.push_shape(shape)?;
            p.push_index_of(&MATRIX_TYPES, ty)?;
        }
        MatrixTransfer::Tiles { count, trans, store } => {
            p.push_bits(1, 1)?;
            p.push_bits(store.into(), 1)?;
            p.push_bits(trans.into(), 1)?;
            p.push_bits(count as u64, 3)?;
        }
    }
    Some(RelocTarget::MatrixTransfer(p.word))
}

/// The transfer that a link's number stands for.
pub(in crate::emit) fn decode_transfer(word: u64) -> Option<&'static MatrixTransfer> {
    let mut u = BitUnpacker(word);
    let (tiles, store) = (u.take_flag(), u.take_flag());
    let form = if tiles {
        MatrixTransfer::Tiles { store, trans: u.take_flag(), count: u.take_bits(3) as usize }
    } else {
        MatrixTransfer::Wmma {
            store,
            role: u.take_list_item(&MATRIX_ROLES)?,
            layout: u.take_list_item(&MATRIX_LAYOUTS)?,
            shape: u.take_shape(),
            ty: u.take_list_item(&MATRIX_TYPES)?,
        }
    };
    Some(intern_instruction_form(&INTERNED_TRANSFERS, form))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_round_trip() {
        let shape = MatrixShape { m: 16, n: 8, k: 256 };
        let plain = MatrixProduct {
            wmma: false,
            shape,
            a_layout: MatrixLayout::Row,
            b_layout: MatrixLayout::Col,
            a: MatrixType::E4M3,
            b: MatrixType::E5M2,
            c: MatrixType::F16,
            d: MatrixType::F32,
            op: MmaCombineOp::AndPopc,
            satfinite: true,
            rnd: Rounding::Rpi,
            sparse: None,
        };
        let sparse = Some(Sparsity { ordered: true, selector: 3 });
        for form in [plain, MatrixProduct { wmma: true, sparse, ..plain }] {
            let Some(RelocTarget::MatrixProduct(word)) = encode_product(&form) else {
                panic!("no number for {form:?}")
            };
            assert_eq!(decode_product(word), Some(&form));
            assert_eq!(
                RelocTarget::decode_target(RelocTarget::MatrixProduct(word).encode_target()),
                Some(RelocTarget::MatrixProduct(word))
            );
        }
        assert_eq!(encode_product(&MatrixProduct { shape: MatrixShape { k: 24, ..shape }, ..plain }), None);
    }

    #[test]
    fn transfers_round_trip() {
        let shape = MatrixShape { m: 8, n: 32, k: 16 };
        let (role, layout, ty) = (MatrixRole::D, MatrixLayout::Col, MatrixType::S32);
        let forms = [
            MatrixTransfer::Wmma { role, layout, shape, ty, store: true },
            MatrixTransfer::Tiles { count: 4, trans: true, store: false },
        ];
        for form in forms {
            let Some(RelocTarget::MatrixTransfer(word)) = encode_transfer(&form) else {
                panic!("no number for {form:?}")
            };
            assert_eq!(decode_transfer(word), Some(&form));
        }
    }
}
