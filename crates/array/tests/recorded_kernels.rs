//! The sources that a fixed set of calls generates, and their launches, compared with those recorded in
//! `recorded_kernels.txt`: on a device that only exists on paper. A change of the text of a kernel, or of its
//! arguments, is seen there. `RTCG_RECORD_KERNELS=1` writes the file anew.

use rtcg_array::{
    Arg, EinsumOptions, FftKind, GpuArray, IterationLimits, MatmulOptions, OpOptions, Order, Precision, ReduceOptions,
    Triangle, apply_elementwise, einsum, fuse,
};
use rtcg_codegen::array::{BoundsMode, Op, ReductionOp, ScanOp};
use rtcg_hal::{
    ArgsView, ArrayBuffer, ArrayContext, DType, Device, DeviceInfo, ExecutionModel, Kernel, KernelText, LaunchArg,
    Queue, Result, TensorBoxes, TensorMap,
};
use std::any::Any;
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Sources and launches since they were last taken, as hashes by FNV-1a.
#[derive(Default)]
struct Recorded {
    sources: Vec<u64>,
    launches: Vec<u64>,
}

struct PaperDevice {
    info: DeviceInfo,
    next_address: AtomicU64,
    recorded: Arc<Mutex<Recorded>>,
}

struct PaperBuffer(u64);

impl ArrayBuffer for PaperBuffer {
    fn device_ptr(&self) -> u64 {
        self.0
    }
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

const FIRST_ADDRESS: u64 = 1 << 40;

struct PaperKernel(u64);

fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

fn fnv1a_of_all(hashes: &[u64]) -> u64 {
    hashes.iter().fold(FNV_START, |hash, one| fnv1a(hash, &one.to_le_bytes()))
}

impl Kernel for PaperKernel {
    fn resident_blocks(&self, _: u32, _: u32) -> Result<u32> {
        Ok(1)
    }
}

impl Device for PaperDevice {
    fn device_info(&self) -> DeviceInfo {
        self.info
    }
    fn alloc(&self, nbytes: usize) -> Result<Arc<dyn ArrayBuffer>> {
        let nbytes = nbytes.max(1).next_multiple_of(256) as u64;
        Ok(Arc::new(PaperBuffer(self.next_address.fetch_add(nbytes, Ordering::Relaxed))))
    }
    fn compile(&self, text: &KernelText<'_>) -> Result<Arc<dyn Kernel>> {
        let hash = fnv1a(fnv1a(FNV_START, text.name.as_bytes()), text.source.as_bytes());
        self.recorded.lock().unwrap().sources.push(hash);
        Ok(Arc::new(PaperKernel(hash)))
    }
    fn queue(&self) -> &dyn Queue {
        self
    }
    fn synchronize(&self) -> Result<()> {
        Ok(())
    }
    fn tensor_map(&self, boxes: &TensorBoxes) -> Option<TensorMap> {
        let TensorBoxes { address, extents, byte_strides, lines, .. } = *boxes;
        let mut map = [0; 16];
        map[0] = address;
        map[1..4].copy_from_slice(&extents);
        map[4..6].copy_from_slice(&byte_strides);
        map[6] = lines.into();
        Some(map)
    }
}

impl Queue for PaperDevice {
    fn write(&self, _: u64, _: &[u8]) -> Result<()> {
        Ok(())
    }
    fn read(&self, dst: &mut [u8], _: u64) -> Result<()> {
        dst.fill(0);
        Ok(())
    }
    fn copy(&self, _: u64, _: u64, _: usize) -> Result<()> {
        Ok(())
    }
    fn fill_zero(&self, _: u64, _: usize) -> Result<()> {
        Ok(())
    }
    fn launch(
        &self,
        kernel: &Arc<dyn Kernel>,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        args: ArgsView<'_>,
    ) -> Result<()> {
        // Addresses go as such, so that a device can tell them from numbers.
        for arg in args.iter() {
            let LaunchArg::Bytes { bytes, .. } = arg else { continue };
            let number = bytes.try_into().map_or(0, u64::from_ne_bytes);
            assert!(!(FIRST_ADDRESS..2 * FIRST_ADDRESS).contains(&number), "{number:#x} is passed as a number");
        }
        let PaperKernel(hash) = (&**kernel as &dyn Any).downcast_ref().unwrap();
        let geometry = [&grid[..], &block, &[shared_bytes]].concat();
        let head = geometry.iter().fold(*hash, |hash, number| fnv1a(hash, &number.to_le_bytes()));
        self.recorded.lock().unwrap().launches.push(fnv1a(head, args.packed_bytes()));
        Ok(())
    }
    fn reduction_workspace(&self, _: usize) -> Result<(u64, u64)> {
        Ok((1 << 44, 1 << 45))
    }
}

/// A device, and the lines recorded for it.
struct Recorder {
    name: &'static str,
    info: DeviceInfo,
    lines: String,
}

fn array(ctx: &Arc<ArrayContext>, shape: &[usize], dtype: DType) -> GpuArray {
    GpuArray::empty(ctx, shape, dtype, Order::C).unwrap()
}

impl Recorder {
    /// Makes a call for each dtype, some of which it may not have, in a context of its own and twice: the second time
    /// most calls are cached.
    fn call<T>(&mut self, what: &str, dtypes: &[DType], call: impl Fn(&Arc<ArrayContext>, DType) -> Result<T>) {
        let recorded = Arc::<Mutex<Recorded>>::default();
        let next_address = AtomicU64::new(FIRST_ADDRESS);
        let device = PaperDevice { info: self.info, next_address, recorded: Arc::clone(&recorded) };
        let ctx = ArrayContext::new(Arc::new(device));
        for dtype in dtypes.iter().chain(dtypes) {
            let _ = call(&ctx, *dtype);
        }
        let Recorded { sources, launches } = &*recorded.lock().unwrap();
        let (of_sources, of_launches) = (fnv1a_of_all(sources), fnv1a_of_all(launches));
        let (name, n_sources, n_launches) = (self.name, sources.len(), launches.len());
        writeln!(self.lines, "{name} {what}: {n_sources} {of_sources:016x} {n_launches} {of_launches:016x}").unwrap();
    }
}

const OF_ARRAYS: &[DType] = &[DType::Bool, DType::I32, DType::F16, DType::F32, DType::C128];

fn record_elementwise(r: &mut Recorder) {
    for op in Op::all_ops() {
        r.call(op.name(), OF_ARRAYS, |ctx, dtype| {
            let (x, y) = (array(ctx, &[1000], dtype), array(ctx, &[70, 70], dtype));
            let turned = y.transpose(None)?;
            let apply = |args: [&GpuArray; 4]| {
                let args = args.map(Arg::from);
                apply_elementwise(ctx, op, &args[..op.arity()], OpOptions::default())
            };
            apply([&x; 4])?;
            apply([&y, &turned, &y, &turned])?;
            turned.binary(op, 2.0)
        });
    }
    r.call("copies", OF_ARRAYS, |ctx, dtype| {
        let x = array(ctx, &[40, 50, 60], dtype);
        let turned = x.transpose(Some(&[2, 1, 0]))?.copy(Some(Order::C))?;
        turned.flip(None)?.copy(None)?.astype(DType::F64)
    });
}

fn record_shapes(r: &mut Recorder) {
    for reduction in [ReductionOp::Sum, ReductionOp::Minimum, ReductionOp::Any, ReductionOp::ArgMaximum] {
        r.call(&format!("{reduction:?}"), OF_ARRAYS, |ctx, dtype| {
            let x = array(ctx, &[100, 2000], dtype);
            let reduce = |axes| x.reduce(reduction, ReduceOptions { axes, ..ReduceOptions::default() });
            [None, Some(&[0][..]), Some(&[1])].into_iter().try_for_each(|axes| reduce(axes).map(drop))
        });
    }
    for scan in [ScanOp::Sum, ScanOp::Maximum] {
        r.call(&format!("cumulative {scan:?}"), OF_ARRAYS, |ctx, dtype| {
            array(ctx, &[100_000], dtype).cumulative(scan, 0, None)?;
            array(ctx, &[100, 300], dtype).cumulative(scan, 0, None)
        });
    }
    r.call("sorts", OF_ARRAYS, |ctx, dtype| {
        array(ctx, &[100], dtype).sorted(0, false)?;
        array(ctx, &[300_000], dtype).argsort(0, true)?;
        let keys = array(ctx, &[5000], dtype);
        keys.searchsorted(&keys, true)
    });
    r.call("gathers", OF_ARRAYS, |ctx, dtype| {
        let (x, indices) = (array(ctx, &[100, 20], dtype), array(ctx, &[7], DType::I64));
        x.take(&indices, 0, BoundsMode::Clip, None)?;
        x.put(&indices, &array(ctx, &[7, 20], dtype), 0, BoundsMode::Raise)
    });
    r.call("fused", OF_ARRAYS, |ctx, dtype| {
        let (x, y) = (array(ctx, &[999], dtype), array(ctx, &[999], dtype));
        fuse::fuse(|| x.binary(Op::Multiply, &y)?.binary(Op::Add, 1.0)?.binary(Op::Subtract, &x))
    });
}

const OF_PRODUCTS: &[DType] = &[DType::F16, DType::F32, DType::F64, DType::C64];

fn record_products(r: &mut Recorder) {
    for [m, k, n] in [[16, 16, 16], [256, 300, 200], [1, 500, 300], [1000, 1000, 1000], [4, 5000, 64]] {
        r.call(&format!("matmul {m} {k} {n}"), OF_PRODUCTS, |ctx, dtype| {
            array(ctx, &[m, k], dtype).matmul(&array(ctx, &[k, n], dtype))
        });
    }
    r.call("matmul by integers", &[DType::F32, DType::F64, DType::C64, DType::C128], |ctx, dtype| {
        let options = MatmulOptions { precision: Precision::Emulated, ..Default::default() };
        array(ctx, &[2, 700, 520], dtype).matmul_with(&array(ctx, &[520, 600], dtype), &options)
    });
    for subscripts in ["ij,jk->ki", "bij,bjk->bik", "ij,j->i", "ij->", "bi,bi->b"] {
        r.call(&format!("einsum {subscripts}"), OF_PRODUCTS, |ctx, dtype| {
            let sides = |one: &str| if one.len() == 3 { vec![8, 64, 64] } else { vec![64; one.len()] };
            let inputs = subscripts.split("->").next().unwrap_or_default();
            let arrays: Vec<GpuArray> = inputs.split(',').map(|one| array(ctx, &sides(one), dtype)).collect();
            einsum(subscripts, &arrays.iter().collect::<Vec<_>>(), EinsumOptions::default())
        });
    }
    for n in [64, 1000, 1009, 1 << 16] {
        r.call(&format!("fft {n}"), OF_PRODUCTS, |ctx, dtype| {
            let kind = if dtype.is_complex() { FftKind::Forward } else { FftKind::RealForward };
            array(ctx, &[10, n], dtype).fft(kind, 1, n, 1.0)
        });
    }
    for n in [8, 200] {
        r.call(&format!("linalg {n}"), OF_PRODUCTS, |ctx, dtype| {
            let a = array(ctx, &[3, n, n], dtype);
            a.cholesky(Triangle::Lower)?;
            a.qr(false)?;
            a.inv()?;
            a.eigh(Triangle::Lower, IterationLimits::default())?;
            a.svd(false, IterationLimits::default())
        });
    }
}

#[test]
fn sources_and_launches_are_those_recorded() {
    let gpu = |compute_capability, bulk_copy_smem_bytes| DeviceInfo {
        multiprocessors: 132,
        max_blocks: 4 * 132 * 8,
        execution: ExecutionModel::Simt,
        vector_bytes: 16,
        bulk_copy_smem_bytes,
        shared_bytes: 227 << 10,
        compute_capability,
    };
    let simd_cpu = DeviceInfo {
        multiprocessors: 8,
        max_blocks: 256,
        execution: ExecutionModel::SimdCpu,
        vector_bytes: 1,
        ..gpu(80, 0)
    };
    let mut lines = String::new();
    for (name, info) in [("sm_80", gpu(80, 0)), ("sm_90", gpu(90, 200 << 10)), ("cpu", simd_cpu)] {
        let mut r = Recorder { name, info, lines: String::new() };
        record_elementwise(&mut r);
        record_shapes(&mut r);
        record_products(&mut r);
        lines += &r.lines;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded_kernels.txt");
    if std::env::var_os("RTCG_RECORD_KERNELS").is_some() {
        std::fs::write(&path, &lines).unwrap();
    }
    let recorded = std::fs::read_to_string(&path).unwrap();
    let changed: Vec<_> = lines.lines().zip(recorded.lines()).filter(|(new, old)| new != old).collect();
    assert!(changed.is_empty() && lines.len() == recorded.len(), "{} of {}: {changed:#?}", changed.len(), lines.len());
}
