//! Arrays with a static element type: every operator against the host's own numbers, and what is refused.

use half::{bf16, f16};
use ndarray::{Array2, Axis, s};
use num_complex::Complex;
use rtcg::array::{ArrayErrorKind, Index, Op};
use rtcg::prelude::*;
use rtcg::typed_arrays::{Arithmetic, ArrayElement};
use rtcg::{Error, index};
use std::fmt::Debug;
use std::ops::{Add, Mul, Neg, Sub};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn array_factory() -> ArrayFactory {
    ArrayFactory::new(&Context::new().unwrap()).unwrap()
}

fn error_message<T>(result: rtcg::Result<T>) -> String {
    result.err().expect("an error").to_string()
}

/// Sums, differences, products, equality and sums of all elements are those of the host's type.
fn check_arithmetic_against_host<T>(values: [T; 4], total: T::SumElement)
where
    T: Arithmetic + Add<Output = T> + Sub<Output = T> + Mul<Output = T>,
    T::SumElement: Debug + PartialEq,
{
    let arrays = array_factory();
    let a = arrays.from_slice(&values).unwrap();
    let b = a.flip(None).unwrap();
    let reversed = [values[3], values[2], values[1], values[0]];
    let expect = |f: fn(T, T) -> T| values.iter().zip(reversed).map(|(&x, y)| f(x, y)).collect::<Vec<_>>();
    assert_eq!((&a + &b).to_vec().unwrap(), expect(|x, y| x + y));
    assert_eq!((&b - a.clone()).to_vec().unwrap(), expect(|x, y| y - x));
    assert_eq!((a.clone() * b.clone()).to_vec().unwrap(), expect(|x, y| x * y));
    assert_eq!((&a * values[2]).to_vec().unwrap(), values.map(|x| x * values[2]));
    let mut changed = a.copy().unwrap();
    changed += &b;
    changed -= values[0];
    assert_eq!(changed.to_vec().unwrap(), expect(|x, y| x + y).iter().map(|&x| x - values[0]).collect::<Vec<_>>());
    assert_eq!(a.equal(values[1]).unwrap().to_vec().unwrap(), values.map(|x| x == values[1]));
    assert_eq!(a.not_equal(&b).unwrap().to_vec().unwrap(), [0, 1, 2, 3].map(|i| values[i] != reversed[i]));
    assert_eq!(a.sum().unwrap(), total);
    assert_eq!(arrays.typed_from_dyn::<T>(a.into()).unwrap().to_vec().unwrap(), values);
}

#[test]
fn every_element_type_matches_host_arithmetic() {
    check_arithmetic_against_host([4i8, 3, 2, 5], 14);
    check_arithmetic_against_host([4i16, 3, 2, 5], 14);
    check_arithmetic_against_host([4i32, -3, 2, -5], -2);
    check_arithmetic_against_host([1i64 << 40, 3, 2, 5], (1 << 40) + 10);
    check_arithmetic_against_host([5u8, 5, 5, 5], 20);
    check_arithmetic_against_host([7u16, 7, 7, 7], 28);
    check_arithmetic_against_host([9u32, 9, 9, 9], 36);
    check_arithmetic_against_host([u64::MAX / 16, u64::MAX / 16, 1, 1].map(|x| x.min(1 << 20)), (1 << 21) + 2);
    check_arithmetic_against_host([1.5, -2.0, 0.25, 8.0].map(f16::from_f32), f16::from_f32(7.75));
    check_arithmetic_against_host([1.5, -2.0, 0.25, 8.0].map(bf16::from_f32), bf16::from_f32(7.75));
    check_arithmetic_against_host([1.5f32, -2.0, 0.25, 8.0], 7.75);
    check_arithmetic_against_host([1.5f64, -2.0, 0.25, 8.0], 7.75);
    let z = [(1.0, 2.0), (0.5, -1.0), (-3.0, 0.0), (0.0, 4.0)];
    check_arithmetic_against_host(z.map(|(re, im)| Complex::new(re as f32, im as f32)), Complex::new(-1.5, 5.0));
    check_arithmetic_against_host(z.map(|(re, im)| Complex::new(re, im)), Complex::new(-1.5, 5.0));
}

#[test]
fn scalars_are_operands_on_both_sides() {
    let arrays = array_factory();
    let a = arrays.from_slice(&[1.0f32, 2.0, 4.0]).unwrap();
    assert_eq!((10.0 - &a).to_vec().unwrap(), [9.0, 8.0, 6.0]);
    assert_eq!((8.0 / a.clone()).to_vec().unwrap(), [8.0, 4.0, 2.0]);
    assert_eq!((&a / 2.0).to_vec().unwrap(), [0.5, 1.0, 2.0]);
    assert_eq!((-&a).to_vec().unwrap(), [-1.0, -2.0, -4.0]);
    assert_eq!(a.clone().neg().to_vec().unwrap(), [-1.0, -2.0, -4.0]);
    let bits = arrays.from_slice(&[0b1100u8, 0b1010]).unwrap();
    assert_eq!((&bits & 0b0110).to_vec().unwrap(), [0b0100, 0b0010]);
    assert_eq!((!&bits ^ &bits).to_vec().unwrap(), [255, 255]);
    assert_eq!((&bits << 1 | 1).to_vec().unwrap(), [0b11001, 0b10101]);
    assert_eq!((bits >> 2).to_vec().unwrap(), [0b11, 0b10]);
    let truth = a.greater(1.5).unwrap() & a.less_equal(2.0).unwrap();
    assert_eq!((!truth.clone()).to_vec().unwrap(), [true, false, true]);
    assert_eq!(truth.where_cond(&a, 0.0).unwrap().to_vec().unwrap(), [0.0, 2.0, 0.0]);
    assert_eq!(truth.count_true().unwrap(), 1);
    assert_eq!(a.select_by_mask(&truth).unwrap().to_vec().unwrap(), [2.0]);
    let seven = arrays.from_slice(&[7i32, -7]).unwrap();
    assert_eq!(seven.floor_divide(2).unwrap().to_vec().unwrap(), [3, -4]);
    assert_eq!(seven.remainder(2).unwrap().to_vec().unwrap(), [1, 1]);
    assert_eq!(seven.true_divide(2).unwrap().to_vec().unwrap(), [3.5, -3.5]);
}

#[test]
fn views_share_memory_with_their_base() {
    let arrays = array_factory();
    let a = arrays.range(0i32, 1, 24).unwrap().reshape(&[2, 3, -1]).unwrap();
    let part = a.index(&index![1, (.., -2), 1..3]).unwrap();
    assert_eq!((part.shape(), part.to_vec().unwrap()), (&[2, 2][..], vec![21, 22, 13, 14]));
    part.fill(0).unwrap();
    let expected: i64 = (0..24).sum::<i64>() - 21 - 22 - 13 - 14;
    assert_eq!(a.sum().unwrap(), expected);
    let new = a.index(&index![Index::Ellipsis, 0, Index::NewAxis]).unwrap();
    assert_eq!(new.shape(), [2, 3, 1]);
    assert_eq!(a.t().shape(), [4, 3, 2]);
    assert_eq!(a.transpose(Some(&[1, 0, 2])).unwrap().flip(Some(&[0])).unwrap().shape(), [3, 2, 4]);
    assert_eq!(new.squeeze(None).unwrap().expand_dims(&[0]).unwrap().shape(), [1, 2, 3]);
    let rows = arrays.from_slice(&[0i64, -1]).unwrap();
    let column = arrays.from_shape_and_values(&[3, 1], &[1.0f64, 2.0, 3.0]).unwrap();
    assert_eq!(column.broadcast_to(&[3, 2]).unwrap().to_vec().unwrap(), [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
    assert_eq!(column.take(&rows, 0).unwrap().to_vec().unwrap(), [1.0, 3.0]);
    column.index(&index![1..]).unwrap().assign(&column.index(&index![..2]).unwrap()).unwrap();
    assert_eq!(column.to_vec().unwrap(), [1.0, 1.0, 2.0]);
}

#[test]
fn reductions_sorting_and_products_are_correct() {
    let arrays = array_factory();
    let host = [3.0f32, -1.0, 2.0, 5.0, 0.0, 4.0];
    let a = arrays.from_shape_and_values(&[2, 3], &host).unwrap();
    assert_eq!((a.min().unwrap(), a.max().unwrap(), a.sum().unwrap()), (-1.0, 5.0, 13.0));
    assert_eq!((a.argmin().unwrap(), a.argmax().unwrap()), (1, 3));
    assert_eq!(a.max_axes(&[-1]).unwrap().to_vec().unwrap(), [3.0, 5.0]);
    assert_eq!(a.mean_axes(&[0]).unwrap().to_vec().unwrap(), [4.0, -0.5, 3.0]);
    assert_eq!(a.sorted(1).unwrap().to_vec().unwrap(), [-1.0, 2.0, 3.0, 0.0, 4.0, 5.0]);
    assert_eq!(a.argsort(1).unwrap().to_vec().unwrap(), [1, 2, 0, 1, 2, 0]);
    assert_eq!(a.cumulative_sum(1).unwrap().to_vec().unwrap(), [3.0, 2.0, 4.0, 5.0, 5.0, 9.0]);
    assert_eq!(a.matmul(&a.t()).unwrap().to_vec().unwrap(), [14.0, 23.0, 23.0, 41.0]);
    assert_eq!(a.dot(&a).unwrap(), 55.0);
    let whole = arrays.from_slice(&[200u8, 100]).unwrap();
    assert_eq!((whole.sum().unwrap(), whole.mean().unwrap(), whole.product().unwrap()), (300, 150.0, 20_000));
    let pair = arrays.from_slice(&[1.0f64, 3.0]).unwrap();
    assert_eq!((pair.variance(1.0).unwrap(), pair.std_dev(0.0).unwrap()), (2.0, 1.0));
    assert_eq!(pair.add_scaled(&pair, 2.0).unwrap().to_vec().unwrap(), [3.0, 9.0]);
    assert!(pair.all().unwrap() && !pair.less(0.0).unwrap().any().unwrap());
    assert_eq!(pair.cast::<i16>().unwrap().to_vec().unwrap(), [1, 3]);
    assert_eq!(arrays.full(&[2, 2], true).unwrap().to_vec().unwrap(), [true; 4]);
}

#[test]
fn map_expressions_accept_operands_of_any_layout() {
    let arrays = array_factory();
    let a = arrays.range(0.0f32, 1.0, 6).unwrap().reshape(&[2, 3]).unwrap();
    // SAFETY: these expressions touch no memory.
    unsafe {
        let turned = a.t().map::<f64>("x * 0.5 + 1").unwrap();
        assert_eq!((turned.shape(), turned.to_vec().unwrap()), (&[3, 2][..], vec![1.0, 2.5, 1.5, 3.0, 2.0, 3.5]));
        let column = arrays.from_shape_and_values(&[2, 1], &[10i32, 20]).unwrap();
        let both = a.zip::<_, i64>(&column, "x > 1 ? y : -1").unwrap();
        assert_eq!(both.to_vec().unwrap(), [-1, -1, 10, 20, 20, 20]);
        let three = a.zip3::<_, _, f32>(&column, &a, "x + y * z").unwrap();
        assert_eq!(three.to_vec().unwrap(), [0.0, 11.0, 22.0, 63.0, 84.0, 105.0]);
        let wrong = a.map::<f32>("x +\n  nowhere");
        let text = error_message(wrong);
        assert!(text.contains("operation(2)") && text.contains("nowhere"), "{text}");
        let short = arrays.from_slice(&[1.0f32, 2.0]).unwrap();
        assert!(error_message(a.zip::<_, f32>(&short, "x")).contains("(2, 3) (2,)"));
        let none = arrays.zeros::<f32>(&[0, 3]).unwrap();
        assert_eq!(none.map::<f32>("1 / x").unwrap().shape(), [0, 3]);
    }
}

#[test]
fn ndarrays_of_any_layout_round_trip() {
    let arrays = array_factory();
    let host = Array2::from_shape_fn((3, 4), |(i, j)| (i * 4 + j) as i32);
    for view in [host.view(), host.t(), host.slice(s![..;-1, 1..3]), host.slice(s![0..0, ..])] {
        let a = arrays.from_ndarray(&view).unwrap();
        assert_eq!(a.to_ndarray().unwrap(), view.into_dyn());
        assert_eq!((&a + 1).to_ndarray().unwrap(), (&view + 1).into_dyn());
    }
    let a = arrays.from_ndarray(&host).unwrap();
    assert_eq!(a.t().to_ndarray().unwrap(), host.t().into_dyn());
    let sums = host.mapv(i64::from).sum_axis(Axis(0)).into_dyn();
    assert_eq!(a.sum_axes(&[0]).unwrap().to_ndarray().unwrap(), sums);
    let truth = a.greater(5).unwrap().to_ndarray().unwrap();
    assert_eq!(truth, host.mapv(|x| x > 5).into_dyn());
}

#[test]
fn mismatched_operands_are_errors_or_operator_panics() {
    let arrays = array_factory();
    let (a, b) = (arrays.zeros::<f32>(&[2, 3]).unwrap(), arrays.zeros::<f32>(&[2]).unwrap());
    assert!(error_message(a.try_add(&b)).contains("(2, 3) (2,)"));
    assert!(
        error_message(arrays.from_shape_and_values(&[2, 2], &[1u8]))
            .contains("1 values do not fill an array of shape (2, 2)")
    );
    assert!(
        error_message(arrays.typed_from_dyn::<f64>(a.as_dyn().clone()))
            .contains("elements of float32; expected float64")
    );
    assert!(error_message(a.item()).contains("shape (2, 3)"));
    assert!(error_message(a.index(&index![5])).contains("index 5 is out of bounds for axis 0 with size 2"));
    assert!(error_message(a.write(&[0.0])).contains("4 bytes"));
    assert!(error_message(a.sorted(2)).contains("axis 2 is out of bounds"));
    assert!(error_message(arrays.zeros::<i32>(&[0]).unwrap().max()).contains("no identity"));
    assert!(
        error_message(a.select_by_mask(&b.equal(0.0).unwrap())).contains("the mask has shape (2,); expected (2, 3)")
    );
    let elsewhere = self::array_factory().zeros::<f32>(&[2, 3]).unwrap();
    assert!(error_message(a.try_mul(&elsewhere)).contains("different contexts"));
    assert!(error_message(arrays.typed_from_dyn::<f32>(elsewhere.into())).contains("another context"));
    let panic = catch_unwind(AssertUnwindSafe(|| &a + &b)).expect_err("a panic");
    assert!(panic.downcast_ref::<String>().expect("text").contains("could not be broadcast"));
    let Err(Error::Array(error)) = a.try_add(&b) else { panic!("an error of arrays") };
    assert_eq!(error.kind(), ArrayErrorKind::Value);
    assert_eq!(f32::DTYPE, a.as_dyn().dtype());
    assert!(a.as_dyn().unary(Op::Invert).is_err());
}
