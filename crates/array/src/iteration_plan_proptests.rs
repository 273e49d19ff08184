//! Random plans: whatever axes are dropped, reversed, ordered and merged, each element is visited once, with the same
//! elements of the other operands.

use crate::iteration_plan::IterationPlan;
use crate::layout::{Layout, Order};
use proptest::prelude::*;

/// The addresses of all operands, element by element in the order of the axes.
fn visited_addresses<const N: usize>(offsets: [usize; N], axes: &[(usize, [isize; N])]) -> Vec<[isize; N]> {
    let start = offsets.map(|offset| offset as isize);
    axes.iter().fold(vec![start], |found, (length, strides)| {
        let along = |at: &[isize; N]| -> Vec<[isize; N]> {
            (0..*length as isize).map(|i| std::array::from_fn(|k| at[k] + i * strides[k])).collect()
        };
        found.iter().flat_map(along).collect()
    })
}

/// Three views of one shape, each transposed, reversed and broadcast in its own way.
fn operand_layouts() -> impl Strategy<Value = [Layout; 3]> {
    let shape = prop::collection::vec(0usize..4, 0..5);
    let one = (any::<bool>(), any::<[bool; 5]>(), any::<[bool; 5]>(), 1isize..3);
    (shape, one.clone(), one.clone(), one).prop_map(|(shape, a, b, c)| {
        let view = |written: bool, (fortran, flipped, repeated, step): (bool, [bool; 5], [bool; 5], isize)| {
            let order = if fortran { Order::F } else { Order::C };
            // What is written has each element once.
            let own: Vec<usize> =
                shape.iter().enumerate().map(|(axis, &n)| if repeated[axis] && !written { 1 } else { n }).collect();
            let mut layout = Layout { offset: 4096, ..Layout::contiguous(&own, 4, order) };
            layout.strides.iter_mut().for_each(|stride| *stride *= step);
            let axes: Vec<isize> = (0..own.len()).filter(|&axis| flipped[axis]).map(|axis| axis as isize).collect();
            layout.flip(Some(&axes)).and_then(|layout| layout.broadcast_to(&shape)).expect("axes that exist")
        };
        [view(true, a), view(false, b), view(false, c)]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_visits_what_the_layouts_say(operands in operand_layouts()) {
        let [a, b, c] = &operands;
        let axes: Vec<_> = (0..a.ndim()).map(|k| (a.shape[k], [a.strides[k], b.strides[k], c.strides[k]])).collect();
        let in_c_order = visited_addresses([a.offset, b.offset, c.offset], &axes);
        let kept = IterationPlan::keeping_axis_order([a, b, c]);
        prop_assert_eq!(visited_addresses(kept.offsets, &kept.axes), in_c_order.clone());
        let free = IterationPlan::new([a, b, c]);
        prop_assert_eq!(free.n_elements(), a.size());
        let sorted = |mut list: Vec<[isize; 3]>| { list.sort_unstable(); list };
        prop_assert_eq!(sorted(visited_addresses(free.offsets, &free.axes)), sorted(in_c_order));
        // Nothing is merged for the sake of elements that are not there.
        prop_assert!(a.size() == 0 || free.axes.len() <= kept.axes.len().max(1), "{free:?} has more axes than {kept:?}");
    }

    #[test]
    fn dense_operands_of_one_layout_are_one_run(shape in prop::collection::vec(1usize..4, 0..5), fortran in any::<bool>()) {
        let dense = Layout::contiguous(&shape, 4, if fortran { Order::F } else { Order::C });
        let plan = IterationPlan::new([&dense, &dense]);
        prop_assert_eq!(plan.single_stride(0, 4), Some(4));
        prop_assert_eq!(plan.single_stride(1, 4), Some(4));
    }
}
