//! Operands of cuBLAS, without a GPU: functions of the host, on memory of the virtual GPU, stand in for the library, so that
//! what they compute shows whether matrices were described rightly. What the real library computes is tested in Python.
#![allow(clippy::too_many_arguments, reason = "the library's arguments")]

use super::cublas::{Handle, Product, Triangular};
use super::{HostScalar, Op};
use rtcg_array::{GpuArray, Order};
use rtcg_driver::WeakScalar;
use rtcg_driver::sys::cublas::*;
use rtcg_driver::sys::libraries::{cuDoubleComplex, cudaDataType};
use rtcg_driver::sys::{CUstream, c_int, c_void};
use rtcg_hal::{ArrayContext, DType};
use std::cell::RefCell;
use std::sync::Arc;

type Complex = (f64, f64);

fn product(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

fn sum(a: Complex, b: Complex) -> Complex {
    (a.0 + b.0, a.1 + b.1)
}

fn place(address: u64, index: i64) -> *mut Complex {
    std::ptr::with_exposed_provenance_mut::<Complex>(address as usize).wrapping_offset(index as isize)
}

fn load(address: u64, index: i64) -> Complex {
    // SAFETY: memory of the virtual GPU is the host's, and the tests' matrices have this element.
    unsafe { place(address, index).read() }
}

fn store(address: u64, index: i64, value: Complex) {
    // SAFETY: as above.
    unsafe { place(address, index).write(value) }
}

/// An element of `op(A)`.
fn element(address: u64, leading: c_int, op: cublasOperation_t, row: i64, column: i64) -> Complex {
    let leading = i64::from(leading);
    match op.0 {
        0 => load(address, row + column * leading),
        1 => load(address, column + row * leading),
        _ => {
            let (re, im) = load(address, column + row * leading);
            (re, -im)
        }
    }
}

/// The number behind a pointer.
fn number<T>(pointer: *const T) -> Complex {
    // SAFETY: scalars of these tests are complex numbers of the host.
    unsafe { pointer.cast::<Complex>().read() }
}

fn scaled_sum(alpha: Complex, value: Complex, beta: Complex, address: u64, index: i64) {
    let old = if beta == (0.0, 0.0) { (0.0, 0.0) } else { product(beta, load(address, index)) };
    store(address, index, sum(product(alpha, value), old));
}

thread_local! {
    static CONTEXT: RefCell<Option<crate::Context>> = const { RefCell::new(None) };
}

/// Waits for what was enqueued before, such as copies of operands: functions of the host know no streams.
fn wait() {
    CONTEXT.with_borrow(|ctx| ctx.as_ref().map(crate::Context::synchronize)).expect("a context").expect("no failure");
}

const OK: cublasStatus_t = cublasStatus_t::CUBLAS_STATUS_SUCCESS;

unsafe extern "C" fn set_stream(_: cublasHandle_t, _: CUstream) -> cublasStatus_t {
    OK
}

unsafe extern "C" fn set_workspace(_: cublasHandle_t, address: u64, nbytes: usize) -> cublasStatus_t {
    assert!(address != 0 && nbytes >= 1 << 20);
    OK
}

unsafe extern "C" fn gemm(
    _: cublasHandle_t,
    op_a: cublasOperation_t,
    op_b: cublasOperation_t,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const c_void,
    a: u64,
    kind: cudaDataType,
    lda: c_int,
    b: u64,
    _: cudaDataType,
    ldb: c_int,
    beta: *const c_void,
    c: u64,
    _: cudaDataType,
    ldc: c_int,
    compute: cublasComputeType_t,
    _: c_int,
) -> cublasStatus_t {
    wait();
    assert_eq!((kind, compute), (cudaDataType::CUDA_C_64F, cublasComputeType_t::CUBLAS_COMPUTE_64F));
    for row in 0..i64::from(m) {
        for column in 0..i64::from(n) {
            let term = |i| product(element(a, lda, op_a, row, i), element(b, ldb, op_b, i, column));
            let total = (0..i64::from(k)).map(term).fold((0.0, 0.0), sum);
            scaled_sum(number(alpha), total, number(beta), c, row + column * i64::from(ldc));
        }
    }
    OK
}

unsafe extern "C" fn gemm_strided(
    handle: cublasHandle_t,
    op_a: cublasOperation_t,
    op_b: cublasOperation_t,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const c_void,
    a: u64,
    kind: cudaDataType,
    lda: c_int,
    stride_a: i64,
    b: u64,
    _: cudaDataType,
    ldb: c_int,
    stride_b: i64,
    beta: *const c_void,
    c: u64,
    _: cudaDataType,
    ldc: c_int,
    stride_c: i64,
    count: c_int,
    compute: cublasComputeType_t,
    algorithm: c_int,
) -> cublasStatus_t {
    for i in 0..i64::from(count) {
        let at = |address: u64, stride: i64| address + (16 * i * stride) as u64;
        let (a, b, c) = (at(a, stride_a), at(b, stride_b), at(c, stride_c));
        // SAFETY: the arguments of this function.
        unsafe {
            gemm(handle, op_a, op_b, m, n, k, alpha, a, kind, lda, b, kind, ldb, beta, c, kind, ldc, compute, algorithm)
        };
    }
    OK
}

unsafe extern "C" fn gemm_pointers(
    handle: cublasHandle_t,
    op_a: cublasOperation_t,
    op_b: cublasOperation_t,
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const c_void,
    a: u64,
    kind: cudaDataType,
    lda: c_int,
    b: u64,
    _: cudaDataType,
    ldb: c_int,
    beta: *const c_void,
    c: u64,
    _: cudaDataType,
    ldc: c_int,
    count: c_int,
    compute: cublasComputeType_t,
    algorithm: c_int,
) -> cublasStatus_t {
    wait();
    for i in 0..count as usize {
        // SAFETY: tables of as many addresses, in memory of the host.
        let at = |table: u64| unsafe { std::ptr::with_exposed_provenance::<u64>(table as usize).add(i).read() };
        let (a, b, c) = (at(a), at(b), at(c));
        // SAFETY: the arguments of this function.
        unsafe {
            gemm(handle, op_a, op_b, m, n, k, alpha, a, kind, lda, b, kind, ldb, beta, c, kind, ldc, compute, algorithm)
        };
    }
    OK
}

unsafe extern "C" fn geam(
    _: cublasHandle_t,
    op_a: cublasOperation_t,
    op_b: cublasOperation_t,
    m: c_int,
    n: c_int,
    alpha: *const cuDoubleComplex,
    a: u64,
    lda: c_int,
    beta: *const cuDoubleComplex,
    b: u64,
    ldb: c_int,
    c: u64,
    ldc: c_int,
) -> cublasStatus_t {
    wait();
    for row in 0..i64::from(m) {
        for column in 0..i64::from(n) {
            let first = product(number(alpha), element(a, lda, op_a, row, column));
            let second = product(number(beta), element(b, ldb, op_b, row, column));
            store(c, row + column * i64::from(ldc), sum(first, second));
        }
    }
    OK
}

unsafe extern "C" fn gemv(
    _: cublasHandle_t,
    op: cublasOperation_t,
    m: c_int,
    n: c_int,
    alpha: *const cuDoubleComplex,
    a: u64,
    lda: c_int,
    x: u64,
    step_x: c_int,
    beta: *const cuDoubleComplex,
    y: u64,
    step_y: c_int,
) -> cublasStatus_t {
    wait();
    let (rows, columns) = if op.0 == 0 { (m, n) } else { (n, m) };
    // As in BLAS a negative step begins at the end.
    let at = |i: i64, n: c_int, step: c_int| {
        if step < 0 { (i + 1 - i64::from(n)) * i64::from(step) } else { i * i64::from(step) }
    };
    for row in 0..i64::from(rows) {
        let term = |i| product(element(a, lda, op, row, i), load(x, at(i, columns, step_x)));
        let total = (0..i64::from(columns)).map(term).fold((0.0, 0.0), sum);
        scaled_sum(number(alpha), total, number(beta), y, at(row, rows, step_y));
    }
    OK
}

/// Multiplies instead of solving, by the triangle that was meant.
unsafe extern "C" fn trsm(
    _: cublasHandle_t,
    side: cublasSideMode_t,
    fill: cublasFillMode_t,
    op: cublasOperation_t,
    diag: cublasDiagType_t,
    m: c_int,
    n: c_int,
    alpha: *const cuDoubleComplex,
    a: u64,
    lda: c_int,
    b: u64,
    ldb: c_int,
) -> cublasStatus_t {
    wait();
    let (m, n) = (i64::from(m), i64::from(n));
    // The triangle of op(A).
    let is_lower = (fill.0 == 0) == (op.0 == 0);
    let entry = |row: i64, column: i64| match row - column {
        0 if diag.0 == 1 => (1.0, 0.0),
        0 => element(a, lda, op, row, column),
        below if (below > 0) == is_lower => element(a, lda, op, row, column),
        _ => (0.0, 0.0),
    };
    let old = |row: i64, column: i64| load(b, row + column * i64::from(ldb));
    let mut new = Vec::new();
    for row in 0..m {
        for column in 0..n {
            let total = match side.0 {
                0 => (0..m).map(|i| product(entry(row, i), old(i, column))).fold((0.0, 0.0), sum),
                _ => (0..n).map(|i| product(old(row, i), entry(i, column))).fold((0.0, 0.0), sum),
            };
            new.push((row + column * i64::from(ldb), product(number(alpha), total)));
        }
    }
    new.into_iter().for_each(|(index, value)| store(b, index, value));
    OK
}

unsafe extern "C" fn syrk(
    _: cublasHandle_t,
    fill: cublasFillMode_t,
    op: cublasOperation_t,
    n: c_int,
    k: c_int,
    alpha: *const cuDoubleComplex,
    a: u64,
    lda: c_int,
    beta: *const cuDoubleComplex,
    c: u64,
    ldc: c_int,
) -> cublasStatus_t {
    wait();
    for row in 0..i64::from(n) {
        for column in 0..i64::from(n) {
            let is_written = if fill.0 == 0 { row >= column } else { row <= column };
            if is_written {
                let term = |i| product(element(a, lda, op, row, i), element(a, lda, op, column, i));
                let total = (0..i64::from(k)).map(term).fold((0.0, 0.0), sum);
                scaled_sum(number(alpha), total, number(beta), c, row + column * i64::from(ldc));
            }
        }
    }
    OK
}

unsafe extern "C" fn dot(
    _: cublasHandle_t,
    n: c_int,
    x: u64,
    _: cudaDataType,
    step_x: c_int,
    y: u64,
    _: cudaDataType,
    step_y: c_int,
    result: *mut c_void,
    _: cudaDataType,
    _: cudaDataType,
) -> cublasStatus_t {
    wait();
    let at =
        |i: i64, step: c_int| if step < 0 { (i + 1 - i64::from(n)) * i64::from(step) } else { i * i64::from(step) };
    let term = |i| product(load(x, at(i, step_x)), load(y, at(i, step_y)));
    let total = (0..i64::from(n)).map(term).fold((0.0, 0.0), sum);
    // SAFETY: room for one number.
    unsafe { result.cast::<Complex>().write(total) };
    OK
}

unsafe extern "C" fn pointer_mode(_: cublasHandle_t, _: cublasPointerMode_t) -> cublasStatus_t {
    OK
}

struct Matrices {
    arrays: Arc<ArrayContext>,
    handle: Handle,
}

/// A matrix with its elements in row-major order.
#[derive(Clone)]
struct Matrix {
    array: GpuArray,
    values: Vec<Complex>,
}

fn values_of(array: &GpuArray) -> Vec<Complex> {
    let mut bytes = vec![0; array.nbytes()];
    array.read(&mut bytes, Order::C).expect("it is read");
    let part = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("8 bytes"));
    bytes.chunks_exact(16).map(|both| (part(&both[..8]), part(&both[8..]))).collect()
}

impl Matrices {
    /// `None` without a compiler for the kernels that copy.
    fn new() -> Option<Self> {
        let ctx = crate::Context::new().ok().filter(|ctx| ctx.device().is_virtual())?;
        CONTEXT.set(Some(ctx.clone()));
        let arrays = ctx.arrays().ok()?;
        let functions: [(&str, *const c_void); 11] = [
            ("cublasSetStream_v2", set_stream as *const c_void),
            ("cublasSetWorkspace_v2", set_workspace as *const c_void),
            ("cublasGemmEx", gemm as *const c_void),
            ("cublasGemmStridedBatchedEx", gemm_strided as *const c_void),
            ("cublasGemmBatchedEx", gemm_pointers as *const c_void),
            ("cublasZgeam", geam as *const c_void),
            ("cublasZgemv_v2", gemv as *const c_void),
            ("cublasZtrsm_v2", trsm as *const c_void),
            ("cublasZsyrk_v2", syrk as *const c_void),
            ("cublasDotEx", dot as *const c_void),
            ("cublasSetPointerMode_v2", pointer_mode as *const c_void),
        ];
        let table = CublasTable::from_functions(|name| {
            functions.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
        });
        let handle = Handle::with_table(ctx.driver_context(), Box::leak(Box::new(table)));
        Some(Self { arrays, handle })
    }

    /// A matrix, or a stack, in a memory order: 0 row-major, 1 column-major, 2 row-major with longer rows, 3 with elements
    /// apart.
    fn matrix(&self, shape: &[usize], order: usize, seed: usize) -> Matrix {
        let n: usize = shape.iter().product();
        let value = |i: usize| (((i * 7 + seed * 3) % 11) as f64 - 5.0, ((i * 5 + seed) % 7) as f64 - 3.0);
        let values: Vec<Complex> = (0..n).map(value).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|(re, im)| [re.to_le_bytes(), im.to_le_bytes()].concat()).collect();
        let make = |shape: &[usize]| GpuArray::empty(&self.arrays, shape, DType::C128, Order::C).expect("memory");
        let (outer, [rows, columns]) = (&shape[..shape.len() - 2], [shape[shape.len() - 2], shape[shape.len() - 1]]);
        let last = shape.len() as isize - 1;
        let array = match order {
            0 => make(shape),
            1 => make(&[outer, &[columns, rows]].concat()).swapaxes(last - 1, last).expect("two axes"),
            2 => {
                let whole = make(&[outer, &[rows, columns + 3]].concat());
                whole.index(&crate::index![rtcg_array::Index::Ellipsis, 1..columns as isize + 1]).expect("columns")
            }
            _ => {
                let whole = make(&[outer, &[rows, 2 * columns]].concat());
                whole.index(&crate::index![rtcg_array::Index::Ellipsis, (.., 2)]).expect("every other column")
            }
        };
        array.write(&bytes, Order::C).expect("it is written");
        Matrix { array, values }
    }
}

/// An element of `op(matrix)`.
fn entry(values: &[Complex], [rows, columns]: [usize; 2], op: Op, row: usize, column: usize) -> Complex {
    let (row, column) = if op.transposed { (column, row) } else { (row, column) };
    assert!(row < rows && column < columns);
    let (re, im) = values[row * columns + column];
    if op.conjugated { (re, -im) } else { (re, im) }
}

const OPS: [Op; 3] = [Op::NONE, Op::TRANSPOSE, Op::ADJOINT];
const ALPHA: Complex = (2.0, -1.0);
const BETA: Complex = (0.5, 0.25);

fn weak((re, im): Complex) -> WeakScalar {
    WeakScalar::Complex(re, im)
}

fn turned(shape: [usize; 2], op: Op) -> [usize; 2] {
    if op.transposed { [shape[1], shape[0]] } else { shape }
}

#[test]
fn products_of_all_orders() {
    let Some(setup) = Matrices::new() else { return };
    let [m, n, k] = [3, 4, 2];
    for case in 0..4 * 4 * 3 * 9 {
        let (order_a, order_b, order_out) = (case % 4, case / 4 % 4, case / 16 % 3);
        let (op_a, op_b) = (OPS[case / 48 % 3], OPS[case / 144]);
        let (shape_a, shape_b) = (turned([m, k], op_a), turned([k, n], op_b));
        let (a, b) = (setup.matrix(&shape_a, order_a, 1), setup.matrix(&shape_b, order_b, 2));
        let out = setup.matrix(&[m, n], order_out, 3);
        let settings = Product { alpha: weak(ALPHA), beta: weak(BETA), op_a, op_b, ..Product::default() };
        let expected: Vec<Complex> = (0..m * n)
            .map(|i| {
                let (row, column) = (i / n, i % n);
                let term =
                    |i| product(entry(&a.values, shape_a, op_a, row, i), entry(&b.values, shape_b, op_b, i, column));
                let total = (0..k).map(term).fold((0.0, 0.0), sum);
                sum(product(ALPHA, total), product(BETA, out.values[i]))
            })
            .collect();
        setup.handle.gemm(&a.array, &b.array, Some(&out.array), &settings).expect("it fits");
        assert_eq!(values_of(&out.array), expected, "{order_a} {order_b} {order_out} {op_a:?} {op_b:?}");
        // Without an output, and twice as a list.
        let settings = Product { beta: WeakScalar::Int(0), ..settings };
        let new = setup.handle.gemm(&a.array, &b.array, None, &settings).expect("it fits");
        let twice = setup.handle.gemm_batched(&[&a.array; 2], &[&b.array; 2], &settings).expect("they fit");
        assert_eq!(values_of(&twice), values_of(&new).repeat(2));
    }
}

#[test]
fn products_of_stacks() {
    let Some(setup) = Matrices::new() else { return };
    let (count, [m, n, k]) = (3, [2, 4, 3]);
    for case in 0..4 * 4 * 2 * 3 {
        let (order_a, order_b, order_out, op) = (case % 4, case / 4 % 4, case / 16 % 2, OPS[case / 32]);
        let [rows, columns] = turned([m, k], op);
        let (a, b) = (setup.matrix(&[count, rows, columns], order_a, 1), setup.matrix(&[count, k, n], order_b, 2));
        let out = setup.matrix(&[count, m, n], order_out, 3);
        let settings = Product { op_a: op, ..Product::default() };
        setup.handle.gemm_strided_batched(&a.array, &b.array, Some(&out.array), &settings).expect("it fits");
        let mut expected = Vec::new();
        for i in 0..count {
            let (a, b) = (&a.values[i * m * k..(i + 1) * m * k], &b.values[i * k * n..(i + 1) * k * n]);
            for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column))) {
                let term = |j| product(entry(a, [rows, columns], op, row, j), entry(b, [k, n], Op::NONE, j, column));
                expected.push((0..k).map(term).fold((0.0, 0.0), sum));
            }
        }
        assert_eq!(values_of(&out.array), expected, "{order_a} {order_b} {order_out} {op:?}");
    }
}

#[test]
fn sums_and_vectors() {
    let Some(setup) = Matrices::new() else { return };
    let [m, n] = [3, 4];
    for case in 0..4 * 3 * 3 {
        let (order, order_out, op) = (case % 4, case / 4 % 3, OPS[case / 12]);
        let shape = turned([m, n], op);
        let (a, b) = (setup.matrix(&shape, order, 1), setup.matrix(&[m, n], 0, 2));
        let out = setup.matrix(&[m, n], order_out, 3);
        let settings = Product { alpha: weak(ALPHA), beta: weak(BETA), op_a: op, ..Product::default() };
        setup.handle.geam(&a.array, &b.array, Some(&out.array), &settings).expect("it fits");
        let of_a = |i: usize| entry(&a.values, shape, op, i / n, i % n);
        let expected: Vec<_> = (0..m * n).map(|i| sum(product(ALPHA, of_a(i)), product(BETA, b.values[i]))).collect();
        assert_eq!(values_of(&out.array), expected, "{order} {order_out} {op:?}");
        // A column of the other matrix, backwards, and every second place of the result.
        let x = b.array.index(&crate::index![1, ..]).and_then(|x| x.flip(None)).expect("a row");
        let room = setup.matrix(&[m, 2], 0, 4);
        let y = room.array.index(&crate::index![.., 0]).expect("a column");
        setup.handle.gemv(&a.array, &x, Some(&y), op, weak(ALPHA), weak(BETA)).expect("it fits");
        let expected: Vec<_> = (0..m)
            .map(|row| {
                let term = |i: usize| product(of_a(row * n + i), b.values[n + n - 1 - i]);
                let total = (0..n).map(term).fold((0.0, 0.0), sum);
                sum(product(ALPHA, total), product(BETA, room.values[2 * row]))
            })
            .collect();
        assert_eq!(values_of(&y), expected, "{order} {op:?}");
        let dot = setup.handle.dot(&x, &x, false, None).expect("it fits");
        let total = b.values[n..2 * n].iter().map(|value| product(*value, *value)).fold((0.0, 0.0), sum);
        assert_eq!(dot, Some(weak(total)));
        setup.handle.dot(&x, &x, false, Some(&room.array.index(&crate::index![0, 1..2]).expect("one"))).expect("fits");
        assert_eq!(values_of(&room.array)[1], total);
    }
}

#[test]
fn triangles_of_all_orders() {
    let Some(setup) = Matrices::new() else { return };
    let [m, n] = [3, 2];
    for case in 0..4 * 3 * 3 * 2 * 2 * 2 {
        let (order, order_b, op) = (case % 4, case / 4 % 3, OPS[case / 12 % 3]);
        let [is_right, is_lower, is_unit] = [case / 36 % 2 == 1, case / 72 % 2 == 1, case / 144 == 1];
        let size = if is_right { n } else { m };
        let (a, b) = (setup.matrix(&[size, size], order, 1), setup.matrix(&[m, n], order_b, 2));
        let system = Triangular { is_right, is_lower, op, is_unit };
        setup.handle.trsm(&a.array, &b.array, system, weak(ALPHA)).expect("it fits");
        let triangle = |row: usize, column: usize| {
            let (from, to) = if op.transposed { (column, row) } else { (row, column) };
            let is_read = if is_lower { from >= to } else { from <= to };
            match from == to && is_unit {
                true => (1.0, 0.0),
                false if is_read => entry(&a.values, [size, size], op, row, column),
                false => (0.0, 0.0),
            }
        };
        let expected: Vec<_> = (0..m * n)
            .map(|i| {
                let (row, column) = (i / n, i % n);
                let term = |i: usize| match is_right {
                    false => product(triangle(row, i), b.values[i * n + column]),
                    true => product(b.values[row * n + i], triangle(i, column)),
                };
                product(ALPHA, (0..size).map(term).fold((0.0, 0.0), sum))
            })
            .collect();
        assert_eq!(values_of(&b.array), expected, "{order} {order_b} {system:?}");
        if order_b < 2 && !is_unit && !op.conjugated {
            let c = setup.matrix(&[size, size], order_b, 5);
            let (alpha, beta) = (weak(ALPHA), weak(BETA));
            setup.handle.syrk(&a.array, Some(&c.array), op.transposed, is_lower, alpha, beta).expect("it fits");
            let expected: Vec<_> = (0..size * size)
                .map(|i| {
                    let (row, column) = (i / size, i % size);
                    if if is_lower { row < column } else { row > column } {
                        return c.values[i];
                    }
                    let of = |row, i| entry(&a.values, [size, size], op, row, i);
                    let total = (0..size).map(|i| product(of(row, i), of(column, i))).fold((0.0, 0.0), sum);
                    sum(product(ALPHA, total), product(BETA, c.values[i]))
                })
                .collect();
            assert_eq!(values_of(&c.array), expected, "{order} {order_b} {op:?} {is_lower}");
        }
    }
}

#[test]
fn wrong_operands_are_named() {
    let Some(setup) = Matrices::new() else { return };
    let matrix = |rows, columns, order| setup.matrix(&[rows, columns], order, 1).array;
    let gemm = |a: &GpuArray, b: &GpuArray, out: Option<&GpuArray>, product: &Product| {
        setup.handle.gemm(a, b, out, product).expect_err("it does not fit").to_string()
    };
    let plain = Product::default();
    let (a, b) = (matrix(2, 3, 0), matrix(3, 4, 0));
    assert!(gemm(&a, &a, None, &plain).contains("a has shape [2, 3] and b has shape [2, 3]; expected that op(a) has"));
    assert!(gemm(&a, &b, Some(&matrix(2, 3, 0)), &plain).contains("out has shape [2, 3]; expected [2, 4]"));
    assert!(gemm(&a, &b, Some(&matrix(2, 4, 3)), &plain).contains("adjacent elements in its rows or columns"));
    assert!(gemm(&a, &b, None, &Product { beta: WeakScalar::Int(1), ..plain }).contains("beta is 1, which needs out"));
    let square = matrix(2, 2, 0);
    assert!(gemm(&square, &square, Some(&square), &plain).contains("out overlaps a"));
    let single = GpuArray::zeros(&setup.arrays, &[3, 4], DType::F32, Order::C).expect("memory");
    assert!(gemm(&a, &single, None, &plain).contains("b has dtype float32; expected complex128"));
    let alpha = Product { alpha: WeakScalar::Complex(1.0, 2.0), ..plain };
    let real = GpuArray::zeros(&setup.arrays, &[4, 4], DType::F32, Order::C).expect("memory");
    assert!(gemm(&real, &real, None, &alpha).contains("expected a real number, for float32"));
    let integers = GpuArray::zeros(&setup.arrays, &[4, 4], DType::I64, Order::C).expect("memory");
    assert!(gemm(&integers, &integers, None, &plain).contains("a has dtype int64; expected float16"));
}

#[test]
fn scalars_become_the_bytes_of_their_type() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let scalar = HostScalar::new("alpha", WeakScalar::Float(-1.5), dtype).expect("a number");
        assert_eq!(scalar.value(dtype), WeakScalar::Float(-1.5));
    }
    for dtype in [DType::C64, DType::C128] {
        let scalar = HostScalar::new("alpha", WeakScalar::Complex(0.5, -2.0), dtype).expect("a number");
        assert_eq!(scalar.value(dtype), WeakScalar::Complex(0.5, -2.0));
    }
    let exact = HostScalar::new("alpha", WeakScalar::Int(i128::from(i32::MIN)), DType::I32).expect("an integer");
    assert_eq!(exact.value(DType::I32), WeakScalar::Int(i128::from(i32::MIN)));
    let wrong = HostScalar::new("beta", WeakScalar::Float(0.5), DType::I32).expect_err("it is no integer");
    assert!(wrong.to_string().contains("beta is 5e-1; expected an integer, for int32"), "{wrong}");
}
