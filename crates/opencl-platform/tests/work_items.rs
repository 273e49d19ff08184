//! Ids, sizes and the functions of groups and subgroups, beside a model on the host: for ranges of one to three
//! dimensions whose last groups are smaller, and for ranges that no grid can have.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "calls OpenCL's functions, as programs in C do")]

#[macro_use]
mod setup;
#[path = "../../../tests/support/depth.rs"]
#[allow(dead_code, reason = "each test uses some")]
mod depth;

use rtcg_opencl_sys::*;
use setup::{Setup, set, set_up};

/// Words that each item writes.
const WORDS: usize = 24;

const SOURCE: &str = r#"
    int mixed(int i) { return (i * 7919) % 1009 - 500; }
    kernel void groups(global long *out) {
        local int of_item[256];
        int own = get_local_linear_id(), items = get_local_size(0) * get_local_size(1) * get_local_size(2);
        long *p = out + 24 * get_global_linear_id();
        int value = mixed(get_global_linear_id());
        of_item[own] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        p[0] = get_global_id(0) + 1000 * (get_global_id(1) + 1000 * get_global_id(2));
        p[1] = get_group_id(0) + 1000 * (get_group_id(1) + 1000 * get_group_id(2));
        p[2] = get_local_size(0) + 1000 * (get_local_size(1) + 1000 * get_local_size(2));
        p[3] = get_enqueued_local_size(0) + 1000 * (get_enqueued_local_size(1) + 1000 * get_enqueued_local_size(2));
        p[4] = get_num_groups(0) + 1000 * (get_num_groups(1) + 1000 * get_num_groups(2));
        p[5] = own;
        p[6] = of_item[items - 1 - own];
        p[7] = work_group_reduce_add(value);
        p[8] = work_group_reduce_min((long)value);
        p[9] = (long)work_group_reduce_max((float)value);
        p[10] = work_group_scan_inclusive_add(value);
        p[11] = (long)work_group_scan_exclusive_add((double)value);
        p[12] = work_group_scan_exclusive_max(value);
        p[13] = work_group_broadcast(value, get_local_size(0) - 1, get_local_size(1) - 1, get_local_size(2) - 1);
        p[14] = work_group_all(value < 300) != 0;
        p[15] = work_group_any(value > 480) != 0;
        p[16] = get_sub_group_size() + 1000 * (get_sub_group_id() + 1000 * get_num_sub_groups());
        p[17] = sub_group_reduce_add(value);
        p[18] = sub_group_scan_inclusive_min(value);
        p[19] = sub_group_scan_exclusive_add((ulong)value);
        p[20] = sub_group_broadcast(value, get_sub_group_size() - 1);
        p[21] = (sub_group_all(value < 400) != 0) + 2 * (sub_group_any(value > 400) != 0);
        p[22] = get_sub_group_local_id();
        p[23] = get_max_sub_group_size() + 1000 * get_enqueued_num_sub_groups();
    }
"#;

fn packed(of: [usize; 3]) -> i64 {
    (of[0] + 1000 * (of[1] + 1000 * of[2])) as i64
}

fn mixed(i: usize) -> i64 {
    ((i * 7919) % 1009) as i64 - 500
}

/// What the items of a range write, in their order.
fn model(global: [usize; 3], local: [usize; 3]) -> Vec<[i64; WORDS]> {
    let mut out = vec![[0; WORDS]; global.iter().product()];
    let counts = [0, 1, 2].map(|axis| global[axis].div_ceil(local[axis]));
    let each =
        |n: [usize; 3]| (0..n[2]).flat_map(move |z| (0..n[1]).flat_map(move |y| (0..n[0]).map(move |x| [x, y, z])));
    for group in each(counts) {
        let first = [0, 1, 2].map(|axis| group[axis] * local[axis]);
        let extent = [0, 1, 2].map(|axis| local[axis].min(global[axis] - first[axis]));
        let ids: Vec<[usize; 3]> = each(extent).map(|id| [0, 1, 2].map(|axis| first[axis] + id[axis])).collect();
        let linear: Vec<usize> = ids.iter().map(|id| (id[2] * global[1] + id[1]) * global[0] + id[0]).collect();
        let values: Vec<i64> = linear.iter().map(|&i| mixed(i)).collect();
        let (sum, items) = (|of: &[i64]| of.iter().sum::<i64>(), values.len());
        for (own, &id) in ids.iter().enumerate() {
            let begin = own / 32 * 32;
            let warp = &values[begin..items.min(begin + 32)];
            let full: usize = local.iter().product();
            out[linear[own]] = [
                packed(id),
                packed(group),
                packed(extent),
                packed(local),
                packed(counts),
                own as i64,
                values[items - 1 - own],
                sum(&values),
                *values.iter().min().unwrap(),
                *values.iter().max().unwrap(),
                sum(&values[..=own]),
                sum(&values[..own]),
                values[..own].iter().copied().max().unwrap_or(i32::MIN.into()),
                values[items - 1],
                i64::from(values.iter().all(|&v| v < 300)),
                i64::from(values.iter().any(|&v| v > 480)),
                packed([warp.len(), own / 32, items.div_ceil(32)]),
                sum(warp),
                *values[begin..=own].iter().min().unwrap(),
                sum(&values[begin..own]),
                warp[warp.len() - 1],
                i64::from(warp.iter().all(|&v| v < 400)) + 2 * i64::from(warp.iter().any(|&v| v > 400)),
                (own % 32) as i64,
                packed([full.min(32), full.div_ceil(32), 0]),
            ];
        }
    }
    out
}

fn kernel_of(setup: &Setup, source: &str, name: &str) -> cl_kernel {
    let (program, code) = setup.build_with(source, "-cl-std=CL3.0");
    assert_eq!(code, CL_SUCCESS, "{}", setup.build_log(program));
    setup.kernel(program, name)
}

#[test]
fn groups_at_the_end_of_a_range_are_smaller() {
    let setup = set_up(0);
    let kernel = kernel_of(&setup, SOURCE, "groups");
    let ranges: [(&[usize], &[usize]); 6] = [
        (&[300], &[64]),
        (&[128], &[64]),
        (&[70], &[256]),
        (&[37, 23], &[16, 8]),
        (&[33, 3], &[32, 2]),
        (&[9, 5, 7], &[4, 4, 4]),
    ];
    for (global, local) in ranges {
        let full = |of: &[usize]| [0, 1, 2].map(|axis| of.get(axis).copied().unwrap_or(1));
        let expected = model(full(global), full(local));
        let out = setup.buffer(&vec![0i64; WORDS * expected.len()]);
        assert_eq!(set(kernel, 0, &out), CL_SUCCESS);
        assert_eq!(setup.launch(kernel, global, Some(local)), CL_SUCCESS);
        let found: Vec<i64> = setup.read(out, WORDS * expected.len());
        for (item, (found, expected)) in found.chunks(WORDS).zip(&expected).enumerate() {
            assert_eq!(found, expected, "item {item} of {global:?} in groups of {local:?}");
        }
        cl!(clReleaseMemObject(out));
    }
}

/// Items that leave before a barrier do not hold up those that meet there.
#[test]
fn items_that_return_are_not_waited_for() {
    let setup = set_up(0);
    let source = "kernel void tail(global int *out, int count) {
        local int of_item[64];
        int i = get_local_id(0);
        if (get_global_id(0) >= count) return;
        of_item[i] = get_global_id(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        int items = min((int)get_local_size(0), count - (int)(get_group_id(0) * get_enqueued_local_size(0)));
        out[get_global_id(0)] = of_item[items - 1 - i];
    }";
    let kernel = kernel_of(&setup, source, "tail");
    let out = setup.buffer(&[-1i32; 200]);
    set(kernel, 0, &out);
    for (count, global) in [(150, 192), (150, 170), (97, 128)] {
        set(kernel, 1, &count);
        assert_eq!(setup.launch(kernel, &[global], Some(&[64])), CL_SUCCESS);
        let expected: Vec<i32> = (0..count).map(|i| i / 64 * 64 + (count - i / 64 * 64).min(64) - 1 - i % 64).collect();
        assert_eq!(setup.read::<i32>(out, count as usize), expected);
    }
    cl!(clReleaseMemObject(out));
}

#[test]
fn ids_have_64_bits() {
    let setup = set_up(0);
    let source = "kernel void ids(global ulong *out, ulong first) {
            size_t i = get_global_id(0);
            out[i - first] = i ^ get_global_offset(0);
            if (i == first + 99) out[100] = get_global_linear_id();
        }
        kernel void ends(global ulong *out) {
            for (uint axis = 0; axis < 3; axis++) {
                if (get_global_id(axis) != get_global_size(axis) - 1 || get_global_size(axis) == 1) continue;
                for (uint other = 0; other < 3; other++)
                    if (other != axis && get_global_id(other)) return;
                out[3 * axis] = get_global_id(axis);
                out[3 * axis + 1] = get_group_id(axis);
                out[3 * axis + 2] = get_num_groups(axis);
            }
        }";
    let out = setup.buffer(&[0u64; 128]);
    let ids = kernel_of(&setup, source, "ids");
    for first in [3usize << 33, (1 << 32) - 50] {
        set(ids, 0, &out);
        set(ids, 1, &(first as u64));
        assert_eq!(setup.launch_from(ids, Some(&[first]), &[100], Some(&[32])), CL_SUCCESS);
        let expected: Vec<u64> = (first..first + 100).map(|i| (i ^ first) as u64).chain([99]).collect();
        assert_eq!(setup.read::<u64>(out, 101), expected);
    }
    assert_eq!(setup.launch_from(ids, Some(&[usize::MAX]), &[100], None), CL_INVALID_GLOBAL_OFFSET);
    // More groups than a grid can have across, and more items than 32 bits can count.
    let ends = kernel_of(&setup, source, "ends");
    let mut ranges: Vec<([usize; 3], [usize; 3])> = vec![([1, 70_001, 1], [1, 1, 1]), ([2, 1, 131_073], [2, 1, 2])];
    if depth::is_deep() {
        ranges.push(([(1 << 32) + 70, 1, 1], [256, 1, 1]));
    }
    for (global, local) in ranges {
        let out = setup.buffer(&[0u64; 9]);
        set(ends, 0, &out);
        assert_eq!(setup.launch(ends, &global, Some(&local)), CL_SUCCESS);
        let expected: Vec<u64> = (0..3)
            .flat_map(|axis| {
                let count = global[axis].div_ceil(local[axis]);
                let last = [global[axis] - 1, count - 1, count];
                last.map(|value| if global[axis] == 1 { 0 } else { value as u64 })
            })
            .collect();
        assert_eq!(setup.read::<u64>(out, 9), expected, "{global:?}");
        cl!(clReleaseMemObject(out));
    }
    assert_eq!(setup.launch(ends, &[1 << 40], Some(&[1])), CL_INVALID_GLOBAL_WORK_SIZE);
    cl!(clReleaseMemObject(out));
}

/// The size that a kernel requires is that of all groups but the last.
#[test]
fn a_required_group_size_allows_a_smaller_last_group() {
    let setup = set_up(0);
    let source = "kernel __attribute__((reqd_work_group_size(32, 1, 1))) void size(global int *out) {
        out[get_global_id(0)] = get_local_size(0);
    }";
    let kernel = kernel_of(&setup, source, "size");
    let out = setup.buffer(&[0i32; 40]);
    set(kernel, 0, &out);
    assert_eq!(setup.launch(kernel, &[40], Some(&[16])), CL_INVALID_WORK_GROUP_SIZE);
    assert_eq!(setup.launch(kernel, &[40], None), CL_SUCCESS);
    assert_eq!(setup.read::<i32>(out, 40), [vec![32; 32], vec![8; 8]].concat());
    cl!(clReleaseMemObject(out));
}
