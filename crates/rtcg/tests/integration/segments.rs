//! Segments and runs from Rust, against loops on the host.

use rtcg::array::{ScanOp, reduce_by_key, unique_by_key};
use rtcg::prelude::*;

#[test]
fn segments_are_those_of_loops() {
    let arrays = ArrayFactory::new(&Context::new().unwrap()).unwrap();
    let lengths = [0, 3, 0, 2500, 1, 1024, 0];
    let offsets: Vec<i32> = lengths
        .iter()
        .scan(0, |end, n| {
            *end += n;
            Some(*end)
        })
        .collect();
    let offsets = [&[0], &offsets[..]].concat();
    let values: Vec<i32> = (0..3528).map(|i| i * 7919 % 101 - 50).collect();
    let (on_device, at) = (arrays.from_slice(&values).unwrap(), arrays.from_slice(&offsets).unwrap());
    let parts: Vec<&[i32]> = offsets.windows(2).map(|pair| &values[pair[0] as usize..pair[1] as usize]).collect();

    let sums = on_device.as_dyn().segmented_reduce(ScanOp::Sum, at.as_dyn(), None).unwrap();
    let expected: Vec<i64> = parts.iter().map(|part| part.iter().map(|&x| i64::from(x)).sum()).collect();
    assert_eq!(arrays.typed_from_dyn::<i64>(sums).unwrap().to_vec().unwrap(), expected);
    let least = on_device.as_dyn().segmented_reduce(ScanOp::Minimum, at.as_dyn(), None).unwrap();
    let expected: Vec<i32> = parts.iter().map(|part| part.iter().copied().min().unwrap_or(i32::MAX)).collect();
    assert_eq!(arrays.typed_from_dyn::<i32>(least).unwrap().to_vec().unwrap(), expected);

    let scan = on_device.as_dyn().segmented_scan(ScanOp::Sum, at.as_dyn(), true, None).unwrap();
    let running = |part: &&[i32]| {
        let before = |sum: &mut i64, &x: &i32| {
            let now = *sum;
            *sum += i64::from(x);
            Some(now)
        };
        part.iter().scan(0, before).collect::<Vec<_>>()
    };
    let expected: Vec<i64> = parts.iter().flat_map(running).collect();
    assert_eq!(arrays.typed_from_dyn::<i64>(scan).unwrap().to_vec().unwrap(), expected);

    let [sorted, _] = on_device.as_dyn().segmented_sort(at.as_dyn(), false).unwrap();
    let in_order = |part: &&[i32]| {
        let mut part = part.to_vec();
        part.sort();
        part
    };
    let expected: Vec<i32> = parts.iter().flat_map(in_order).collect();
    assert_eq!(arrays.typed_from_dyn::<i32>(sorted).unwrap().to_vec().unwrap(), expected);
}

#[test]
fn runs_are_encoded_and_decoded() {
    let arrays = ArrayFactory::new(&Context::new().unwrap()).unwrap();
    let keys = arrays.from_slice(&[4_u16, 4, 1, 4, 4, 4]).unwrap();
    let values = arrays.from_slice(&[1.0_f64, 2.0, 4.0, 8.0, 16.0, 32.0]).unwrap();
    let [found, counts] = keys.as_dyn().run_length_encode().unwrap();
    let decoded = found.run_length_decode(&counts).unwrap();
    assert_eq!(arrays.typed_from_dyn::<i64>(counts).unwrap().to_vec().unwrap(), [2, 1, 3]);
    assert_eq!(arrays.typed_from_dyn::<u16>(decoded).unwrap().to_vec().unwrap(), keys.to_vec().unwrap());
    let [_, sums] = reduce_by_key(keys.as_dyn(), values.as_dyn(), ScanOp::Sum, None).unwrap();
    assert_eq!(arrays.typed_from_dyn::<f64>(sums).unwrap().to_vec().unwrap(), [3.0, 4.0, 56.0]);
    let [_, first] = unique_by_key(keys.as_dyn(), values.as_dyn()).unwrap();
    assert_eq!(arrays.typed_from_dyn::<f64>(first).unwrap().to_vec().unwrap(), [1.0, 4.0, 8.0]);
    let error = keys.as_dyn().segmented_reduce(ScanOp::Sum, values.as_dyn(), None).unwrap_err().to_string();
    assert_eq!(error, "offsets is of dtype float64; expected integers");
}
