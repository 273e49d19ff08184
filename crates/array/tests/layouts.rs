//! Random views against a plain model: an array as the list of its elements' addresses in C order.

use proptest::prelude::*;
use rtcg_array::{Index, Layout, Order, broadcast_shapes};
use rtcg_hal::ArrayErrorKind;

/// Shape and addresses, and nothing of strides.
#[derive(Debug, Clone, PartialEq)]
struct ArrayModel {
    shape: Vec<usize>,
    addresses: Vec<usize>,
}

/// All coordinates of a shape in C order.
fn all_coordinates(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |found, &length| {
        let longer = |head: &Vec<usize>| (0..length).map(|at| [&head[..], &[at]].concat()).collect::<Vec<_>>();
        found.iter().flat_map(longer).collect()
    })
}

impl ArrayModel {
    /// What a layout says.
    fn from_layout(layout: &Layout) -> Self {
        let address = |at: Vec<usize>| {
            let steps: isize = at.iter().zip(&layout.strides).map(|(&at, &stride)| at as isize * stride).sum();
            (layout.offset as isize + steps) as usize
        };
        Self {
            shape: layout.shape.to_vec(),
            addresses: all_coordinates(&layout.shape).into_iter().map(address).collect(),
        }
    }

    fn address_at(&self, place: &[usize]) -> usize {
        self.addresses[place.iter().zip(&self.shape).fold(0, |flat, (at, length)| flat * length + at)]
    }

    /// Another shape, each of whose coordinates takes the element at `source`.
    fn gather_elements(&self, shape: Vec<usize>, source: impl Fn(&[usize]) -> Vec<usize>) -> Self {
        let addresses = all_coordinates(&shape).iter().map(|at| self.address_at(&source(at))).collect();
        Self { shape, addresses }
    }

    /// A basic index by counting: for each axis of the source the places that stay, and whether the axis does.
    fn index(&self, items: &[Index]) -> Result<Self, ArrayErrorKind> {
        let used = items.iter().filter(|item| matches!(item, Index::At(_) | Index::Slice(..))).count();
        if items.iter().filter(|item| **item == Index::Ellipsis).count() > 1 || used > self.shape.len() {
            return Err(ArrayErrorKind::Index);
        }
        let mut whole = items.to_vec();
        let everything = vec![Index::Slice(None, None, None); self.shape.len() - used];
        let dots = items.iter().position(|item| *item == Index::Ellipsis);
        whole.splice(dots.map_or(items.len()..items.len(), |at| at..at + 1), everything);
        let (mut places, mut kept) = (Vec::new(), Vec::new());
        for item in whole {
            let length = *self.shape.get(places.len()).unwrap_or(&0) as isize;
            match item {
                Index::NewAxis => kept.push(None),
                Index::At(at) => {
                    let at = if at < 0 { at + length } else { at };
                    if !(0..length).contains(&at) {
                        return Err(ArrayErrorKind::Index);
                    }
                    places.push(vec![at as usize]);
                }
                Index::Slice(start, stop, step) => {
                    kept.push(Some(places.len()));
                    places.push(slice_positions(start, stop, step, length)?);
                }
                Index::Ellipsis => unreachable!("it was replaced"),
            }
        }
        let shape = kept.iter().map(|axis| axis.map_or(1, |axis| places[axis].len())).collect();
        Ok(self.gather_elements(shape, |at| {
            let mut source: Vec<usize> = vec![0; places.len()];
            for (axis, list) in places.iter().enumerate() {
                let place = kept.iter().position(|kept| *kept == Some(axis)).map_or(0, |place| at[place]);
                source[axis] = list[place];
            }
            source
        }))
    }
}

/// The places of a slice, found by walking.
fn slice_positions(
    start: Option<isize>,
    stop: Option<isize>,
    step: Option<isize>,
    length: isize,
) -> Result<Vec<usize>, ArrayErrorKind> {
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(ArrayErrorKind::Value);
    }
    let from_front = |bound: isize| if bound < 0 { bound + length } else { bound };
    let mut at = start.map_or(if step > 0 { 0 } else { length - 1 }, from_front);
    let end = stop.map(from_front);
    // A start outside is moved to the edge that the walk comes from.
    at = if step > 0 { at.max(0) } else { at.min(length - 1) };
    let mut found = Vec::new();
    while (0..length).contains(&at) && end.is_none_or(|end| if step > 0 { at < end } else { at > end }) {
        found.push(at as usize);
        at += step;
    }
    Ok(found)
}

fn arbitrary_shape() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0usize..4, 0..4)
}

fn arbitrary_slice_bound() -> impl Strategy<Value = Option<isize>> {
    prop::option::of(-6isize..7)
}

fn arbitrary_index_items() -> impl Strategy<Value = Vec<Index>> {
    let item = prop_oneof![
        2 => (-4isize..4).prop_map(Index::At),
        4 => (arbitrary_slice_bound(), arbitrary_slice_bound(), prop::option::of(-3isize..4)).prop_map(|(a, b, c)| Index::Slice(a, b, c)),
        1 => Just(Index::Ellipsis),
        1 => Just(Index::NewAxis),
    ];
    prop::collection::vec(item, 0..5)
}

/// A layout that is already a view: transposed, and flipped in some axes.
fn arbitrary_layout() -> impl Strategy<Value = Layout> {
    (arbitrary_shape(), any::<bool>(), any::<[bool; 4]>()).prop_map(|(shape, turned, flipped)| {
        let order = if turned { Order::F } else { Order::C };
        let dense = Layout { offset: 1000, ..Layout::contiguous(&shape, 8, order) };
        let axes: Vec<isize> = (0..shape.len()).filter(|&axis| flipped[axis]).map(|axis| axis as isize).collect();
        dense.flip(Some(&axes)).expect("axes that exist")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chained_basic_indices_match_the_model(layout in arbitrary_layout(), indices in prop::collection::vec(arbitrary_index_items(), 1..3)) {
        let (mut layout, mut model) = (layout.clone(), ArrayModel::from_layout(&layout));
        for items in &indices {
            match (layout.index(items), model.index(items)) {
                (Ok(view), Ok(expected)) => {
                    prop_assert_eq!(&ArrayModel::from_layout(&view), &expected, "{:?}", items);
                    (layout, model) = (view, expected);
                }
                (Err(error), Err(kind)) => {
                    prop_assert_eq!(error.kind(), kind, "{:?}", items);
                    break;
                }
                (own, expected) => prop_assert!(false, "{own:?}, expected {expected:?} for {items:?}"),
            }
        }
    }

    #[test]
    fn shapes_broadcast_by_numpys_rule(a in arbitrary_shape(), b in arbitrary_shape(), c in arbitrary_shape()) {
        let ndim = a.len().max(b.len()).max(c.len());
        let padded = |shape: &[usize]| [vec![1; ndim - shape.len()], shape.to_vec()].concat();
        let all = [padded(&a), padded(&b), padded(&c)];
        let axis = |at: usize| {
            let mut lengths: Vec<usize> = all.iter().map(|shape| shape[at]).filter(|&length| length != 1).collect();
            lengths.dedup();
            match lengths[..] {
                [] => Some(1),
                [length] => Some(length),
                _ => lengths.iter().all(|&length| length == lengths[0]).then_some(lengths[0]),
            }
        };
        let expected: Option<Vec<usize>> = (0..ndim).map(axis).collect();
        let own = broadcast_shapes([&a[..], &b[..], &c[..]].into_iter());
        prop_assert_eq!(own.map(|shape| shape.to_vec()), expected);
    }

    #[test]
    fn broadcasting_repeats_elements(layout in arbitrary_layout(), new in arbitrary_shape(), longer in 1usize..4) {
        let grown: Vec<usize> = layout.shape.iter().map(|&n| if n == 1 { longer } else { n }).collect();
        let shape = [new.clone(), grown].concat();
        let model = ArrayModel::from_layout(&layout);
        let expected = model.gather_elements(shape.clone(), |at| {
            at[new.len()..].iter().zip(&model.shape).map(|(&at, &n)| if n == 1 { 0 } else { at }).collect()
        });
        prop_assert_eq!(ArrayModel::from_layout(&layout.broadcast_to(&shape).expect("it fits")), expected);
        let wrong: Vec<usize> = layout.shape.iter().map(|&n| n + 1).collect();
        if layout.shape.iter().any(|&n| n != 1) {
            prop_assert!(layout.broadcast_to(&wrong).is_err());
        }
    }

    #[test]
    fn transposing_reorders_axes(layout in arbitrary_layout(), seed in any::<u64>()) {
        let mut axes: Vec<usize> = (0..layout.ndim()).collect();
        axes.sort_by_key(|&axis| seed.rotate_left(17 * axis as u32) ^ axis as u64);
        let signed: Vec<isize> = axes.iter().map(|&axis| axis as isize - (seed & 1) as isize * axes.len() as isize).collect();
        let model = ArrayModel::from_layout(&layout);
        let expected = model.gather_elements(axes.iter().map(|&axis| model.shape[axis]).collect(), |at| {
            (0..axes.len()).map(|axis| at[axes.iter().position(|&a| a == axis).expect("a permutation")]).collect()
        });
        prop_assert_eq!(ArrayModel::from_layout(&layout.transpose(Some(&signed)).expect("a permutation")), expected);
    }

    #[test]
    fn a_reshaped_view_has_the_same_elements_in_the_same_order(
        layout in arbitrary_layout(), items in arbitrary_index_items(), shape in prop::collection::vec(1usize..7, 0..4),
    ) {
        let Ok(view) = layout.index(&items) else { return Ok(()) };
        if shape.iter().product::<usize>() == view.size() {
            if let Some(reshaped) = view.reshape(&shape, 8, Order::C) {
                prop_assert_eq!(ArrayModel::from_layout(&reshaped).addresses, ArrayModel::from_layout(&view).addresses);
            } else {
                prop_assert!(!view.is_contiguous(8, Order::C), "{view:?} needs no copy");
            }
        }
        let flat = view.reshape(&[view.size()], 8, Order::C);
        prop_assert!(flat.is_some() || !view.is_contiguous(8, Order::C));
    }

    #[test]
    fn the_extent_covers_all_elements_and_no_more(layout in arbitrary_layout(), items in arbitrary_index_items()) {
        let Ok(view) = layout.index(&items) else { return Ok(()) };
        let addresses = ArrayModel::from_layout(&view).addresses;
        let (low, high) = view.byte_extent(8);
        if let (Some(&first), Some(&last)) = (addresses.iter().min(), addresses.iter().max()) {
            prop_assert_eq!((low, high), (first as isize, last as isize + 8));
            let mut sorted = addresses.clone();
            sorted.sort_unstable();
            let dense = sorted.windows(2).all(|pair| pair[1] - pair[0] == 8);
            prop_assert!(!view.is_dense(8) || dense, "{view:?} has gaps");
            let in_order = addresses.windows(2).all(|pair| pair[1] == pair[0] + 8);
            prop_assert_eq!(view.is_contiguous(8, Order::C), in_order);
        }
    }
}
