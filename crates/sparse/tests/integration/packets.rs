//! Packets: partitions of rows, and their diagonal blocks with what is outside of them.

use crate::contexts::context;
use crate::host_arrays::{Random, elements, message, vector};
use crate::host_matrices::{Rows, devices, from_rows, product, random};
use rtcg_hal::DType;
use rtcg_sparse::gallery::{self, HostCsr};
use rtcg_sparse::{HostPackets, HostStructure, PacketPartition, Packets};

fn structure(host: &HostCsr) -> HostStructure<'_> {
    HostStructure { indptr: &host.indptr, indices: &host.indices }
}

fn matrices() -> Vec<(&'static str, HostCsr, bool)> {
    vec![
        ("nothing", from_rows([0, 0], vec![]), true),
        ("one element", from_rows([1, 1], vec![vec![(0, 3.0)]]), true),
        ("no elements", from_rows([40, 40], vec![vec![]; 40]), true),
        ("a grid", gallery::poisson(&[30, 40]), true),
        ("a flow", gallery::convection_diffusion([20, 20], 1.0), false),
        ("random rows", random([400, 400], 20, Rows::Canonical, 1), false),
        ("an arrow", gallery::arrow(300), true),
    ]
}

#[test]
fn blocks_and_remainder_are_the_product() {
    for ctx in devices() {
        for (name, host, is_symmetric) in matrices() {
            let n = host.shape[0];
            let x = Random(2).whole_numbers(n, -5, 5);
            let wanted = product(&host, &x, 1);
            let bytes: Vec<u8> = host.data.iter().flat_map(|value| value.to_ne_bytes()).collect();
            for max_rows in [1, 31, 33, 256, 5000] {
                let partition = PacketPartition::new(structure(&host), max_rows, is_symmetric).unwrap();
                let sizes = partition.base_rows.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
                assert!(sizes.clone().all(|size| (1..=max_rows).contains(&size)), "{name}, {max_rows} rows");
                assert_eq!(sizes.sum::<usize>(), n);
                for (place, &row) in partition.new_to_old.iter().enumerate() {
                    assert_eq!(partition.old_to_new[row as usize] as usize, place, "{name}: a permutation");
                }
                let packed = HostPackets::new(structure(&host), &bytes, 8, &partition);
                let packets = Packets::upload(&ctx, &packed, &partition, DType::F64, max_rows).unwrap();
                let permuted: Vec<f64> = partition.new_to_old.iter().map(|&row| x[row as usize]).collect();
                // The remainder by the host, the blocks by the device.
                let mut rest = vec![0.0; n];
                for &(row, column, element) in &packed.remainder {
                    rest[row as usize] += host.data[element] * permuted[column as usize];
                }
                let y = vector(&ctx, &rest);
                packets.multiply_add(&vector(&ctx, &permuted), &y).unwrap();
                let y: Vec<f64> = elements(&y);
                let back: Vec<f64> = partition.old_to_new.iter().map(|&place| y[place as usize]).collect();
                assert!(back == wanted, "{name}, {max_rows} rows");
            }
        }
    }
}

#[test]
fn single_precision_has_packets_of_its_own() {
    let ctx = context();
    let host = gallery::poisson(&[300]);
    let partition = PacketPartition::new(structure(&host), 100, true).unwrap();
    let bytes: Vec<u8> = host.data.iter().flat_map(|&value| (value as f32).to_ne_bytes()).collect();
    let packed = HostPackets::new(structure(&host), &bytes, 4, &partition);
    assert!(packed.remainder.len() <= 8, "{} of a chain", packed.remainder.len());
    let packets = Packets::upload(&ctx, &packed, &partition, DType::F32, 100).unwrap();
    let (ones, y) = (vector(&ctx, &[1f32; 300]), vector(&ctx, &[0f32; 300]));
    packets.multiply_add(&ones, &y).unwrap();
    let outside: f64 = packed.remainder.iter().map(|&(_, _, element)| host.data[element]).sum();
    let sum: f64 = elements::<f32>(&y).into_iter().map(f64::from).sum();
    assert_eq!(sum, 2.0 - outside);
    let doubles = vector(&ctx, &[0.0; 300]);
    assert_eq!(
        message(packets.multiply_add(&doubles, &y)),
        "x is of dtype float64; expected a contiguous vector of float32"
    );
    let short = vector(&ctx, &[0f32; 299]);
    assert_eq!(message(packets.multiply_add(&ones, &short)), "dimension mismatch: y has shape (299,); expected (300,)");
}

#[test]
fn packets_that_do_not_fit_are_refused() {
    let ctx = context();
    let host = gallery::poisson(&[10]);
    assert!(message(PacketPartition::new(structure(&host), 0, true)).contains("expected 1 to 2^31 - 1"));
    let partition = PacketPartition::new(structure(&host), 10, true).unwrap();
    let bytes: Vec<u8> = host.data.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let packed = HostPackets::new(structure(&host), &bytes, 8, &partition);
    let refused = Packets::upload(&ctx, &packed, &partition, DType::F64, 6145);
    assert_eq!(message(refused), "packets of 6145 rows of float64; expected at most 65536, and 49152 bytes");
}
