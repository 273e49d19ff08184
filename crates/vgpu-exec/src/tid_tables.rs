//! `%tid` of all lanes of a block, one table per warp, shared by all blocks of that shape.

use rtcg_vgpu_abi::{TidTable, WARP_LANES};
use std::cell::RefCell;
use std::sync::Arc;

/// The tables of one shape of block.
type BlockTidTables = ([u32; 3], Arc<[TidTable]>);

/// The tables of a block of `block` threads. Lanes beyond the last thread hold zeros.
pub(crate) fn tid_tables(block: [u32; 3]) -> Arc<[TidTable]> {
    thread_local!(static LAST: RefCell<Vec<BlockTidTables>> = const { RefCell::new(Vec::new()) });
    LAST.with_borrow_mut(|recent| {
        if let Some(i) = recent.iter().position(|(shape, _)| *shape == block) {
            return Arc::clone(&recent[i].1);
        }
        if recent.len() >= 8 {
            recent.remove(0);
        }
        let made = build_tid_tables(block);
        recent.push((block, Arc::clone(&made)));
        made
    })
}

fn build_tid_tables(block: [u32; 3]) -> Arc<[TidTable]> {
    let threads = block.iter().product::<u32>() as usize;
    let zero = TidTable { x: [0; WARP_LANES], y: [0; WARP_LANES], z: [0; WARP_LANES] };
    let mut tables = vec![zero; threads.div_ceil(WARP_LANES)];
    let [nx, ny, _] = block;
    for t in 0..threads {
        let (table, lane, n) = (&mut tables[t / WARP_LANES], t % WARP_LANES, t as u32);
        table.x[lane] = n % nx;
        table.y[lane] = n / nx % ny;
        table.z[lane] = n / nx / ny;
    }
    tables.into()
}

/// The lanes that exist in warp `warp` of a block with `threads` threads.
pub(crate) fn live_lane_mask(threads: u32, warp: u32) -> u32 {
    let rest = threads - warp * WARP_LANES as u32;
    if rest >= WARP_LANES as u32 { u32::MAX } else { (1 << rest) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tid_tables_count_x_first() {
        let t = tid_tables([5, 3, 4]);
        assert_eq!(t.len(), 2);
        let at = |i: usize| (t[i / 32].x[i % 32], t[i / 32].y[i % 32], t[i / 32].z[i % 32]);
        for (i, want) in (0..4).flat_map(|z| (0..3).flat_map(move |y| (0..5).map(move |x| (x, y, z)))).enumerate() {
            assert_eq!(at(i), want);
        }
        assert_eq!(live_lane_mask(60, 1), (1 << 28) - 1);
        assert_eq!(live_lane_mask(64, 1), u32::MAX);
    }
}
