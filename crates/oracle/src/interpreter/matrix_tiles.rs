//! Matrices between memory and the registers of a warp: `ldmatrix`, `stmatrix`, `wmma.load` and
//! `wmma.store`. Each element is accessed by itself, by the lane that holds it in a register.

use crate::int::truncate_bits;
use crate::interpreter::thread::{SimBlock, SimThread};
use crate::matrix::{FragmentMatrix, movmatrix_transpose};
use rtcg_ptx::ast::*;

/// What each lane writes to its registers.
pub(crate) type LaneWrites = Vec<Vec<(Reg, u128)>>;

/// Executes an instruction that accesses memory; all 32 lanes are there.
pub(crate) fn execute_matrix_transfer(
    warp: &mut [SimThread<'_>],
    block: &mut SimBlock<'_>,
    inst: &MatrixInst,
) -> Result<Option<LaneWrites>, String> {
    match inst {
        MatrixInst::LdMatrix { trans, space, dsts, addr } => {
            let mut planes = vec![];
            for tile in 0..dsts.len() {
                let rows = row_addresses(warp, block, *space, addr, tile)?;
                let mut words = vec![];
                for (lane, thread) in warp.iter_mut().enumerate() {
                    words.push(thread.access_memory(block, rows[lane / 4] + lane as u64 % 4 * 4, 4, false, None)?);
                }
                planes.push(if *trans { movmatrix_transpose(&words) } else { words });
            }
            let of = |lane: usize| dsts.iter().zip(&planes).map(|(&dst, plane)| (dst, plane[lane])).collect();
            Ok(Some((0..32).map(of).collect()))
        }
        MatrixInst::StMatrix { trans, space, addr, srcs } => {
            for (tile, src) in srcs.iter().enumerate() {
                let rows = row_addresses(warp, block, *space, addr, tile)?;
                let words: Result<Vec<u128>, String> = warp.iter().map(|t| t.read_operand(block, src, 32)).collect();
                let words = if *trans { movmatrix_transpose(&words?) } else { words? };
                for (lane, thread) in warp.iter_mut().enumerate() {
                    thread.access_memory(block, rows[lane / 4] + lane as u64 % 4 * 4, 4, false, Some(words[lane]))?;
                }
            }
            Ok(Some(vec![vec![]; 32]))
        }
        MatrixInst::WmmaLoad { role, layout, shape, ty, space, dsts, addr, stride } => {
            let matrix = FragmentMatrix { role: *role, shape: *shape, ty: *ty };
            let place = uniform_address_and_stride(warp, block, *space, addr, stride.as_ref())?;
            let mut registers = vec![vec![0u128; matrix.registers_per_lane()]; 32];
            for_each_element(matrix, *layout, place, |at, (lane, register, shift)| {
                let bits = ty.bits();
                let (byte, within, bytes) = (at / 8, (at % 8) as u32, bits.div_ceil(8) as usize);
                let value = warp[lane].access_memory(block, byte, bytes, false, None)? >> within;
                registers[lane][register] |= truncate_bits(bits, value) << shift;
                Ok(())
            })?;
            // A fragment with more registers holds the matrix again.
            let of = |list: Vec<u128>| dsts.iter().copied().zip(list.into_iter().cycle()).collect();
            Ok(Some(registers.into_iter().map(of).collect()))
        }
        MatrixInst::WmmaStore { layout, shape, ty, space, addr, srcs, stride } => {
            let matrix = FragmentMatrix { role: MatrixRole::D, shape: *shape, ty: *ty };
            let place = uniform_address_and_stride(warp, block, *space, addr, stride.as_ref())?;
            for_each_element(matrix, *layout, place, |at, (lane, register, shift)| {
                let (at, bytes) = (at / 8, (ty.bits() / 8) as usize);
                let value = warp[lane].read_operand(block, &srcs[register], ty.register_bits())? >> shift;
                warp[lane].access_memory(block, at, bytes, false, Some(value)).map(|_| ())
            })?;
            Ok(Some(vec![vec![]; 32]))
        }
        _ => Ok(None),
    }
}

/// The addresses of the eight rows of a tile, which eight lanes give.
fn row_addresses(
    warp: &[SimThread<'_>],
    block: &SimBlock<'_>,
    space: Space,
    addr: &Addr,
    tile: usize,
) -> Result<Vec<u64>, String> {
    let mut rows = vec![];
    for thread in &warp[tile * 8..tile * 8 + 8] {
        let row = thread.generic_address(block, space, addr)?;
        if row % 16 != 0 {
            return Err(format!("a row at {row:#x} is not aligned"));
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Address and stride, which all lanes must give alike.
fn uniform_address_and_stride(
    warp: &[SimThread<'_>],
    block: &SimBlock<'_>,
    space: Space,
    addr: &Addr,
    stride: Option<&Operand>,
) -> Result<(u64, Option<u64>), String> {
    let of = |t: &SimThread<'_>| -> Result<(u64, Option<u64>), String> {
        let stride = stride.map(|s| t.read_operand(block, s, 32)).transpose()?;
        Ok((t.generic_address(block, space, addr)?, stride.map(|s| s as u64)))
    };
    let first = of(&warp[0])?;
    match warp.iter().all(|t| of(t).as_ref() == Ok(&first)) {
        true => Ok(first),
        false => Err("the lanes name different matrices".into()),
    }
}

/// Calls `f` with the number of the first bit of each element in memory, and its lane, register and
/// lowest bit there.
fn for_each_element(
    matrix: FragmentMatrix,
    layout: MatrixLayout,
    (address, stride): (u64, Option<u64>),
    mut f: impl FnMut(u64, (usize, usize, u32)) -> Result<(), String>,
) -> Result<(), String> {
    let bits = matrix.ty.bits();
    let (rows, cols) = matrix.matrix_extent();
    let by_row = layout == MatrixLayout::Row;
    let stride = stride.unwrap_or(u64::from(if by_row { cols } else { rows }));
    for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
        let (line, within) = if by_row { (row, col) } else { (col, row) };
        let (lane, register, i) = matrix.element_position(row, col);
        let at = address * 8 + (u64::from(line) * stride + u64::from(within)) * u64::from(bits);
        f(at, (lane, register, i * bits))?;
    }
    Ok(())
}
