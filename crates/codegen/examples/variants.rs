//! Writes generated kernels in several geometries to a directory, for timing them side by side:
//! `cargo run -p rtcg-codegen --example variants DIRECTORY`.

use rtcg_codegen::DType;
use rtcg_codegen::array::{
    Access, ArrayKernel, Op, Operand, Payload, Pointwise, Radix, RadixStage, Reduce, Scan as ArrayScan, ScanOp,
    ScanStage, Space, Tile, Walk,
};
use rtcg_codegen::carg::{CType, TypeRegistry, parse_arguments};
use rtcg_codegen::random::{CounterShape, Draw, Engine, source_in};
use rtcg_codegen::scan::{Pipeline, Scan, ScanForm, ScanShape};
use std::path::PathBuf;

struct Writer(PathBuf);

impl Writer {
    fn put(&self, name: &str, source: &str) -> std::io::Result<()> {
        std::fs::write(self.0.join(format!("{name}.cu")), source)
    }

    fn reductions(&self) -> std::io::Result<()> {
        for unroll in [1, 2, 4, 8] {
            let sum = Reduce { split: true, pack: 4, packed: 1, unroll, ..Reduce::PLAIN };
            self.put(&format!("sum_u{unroll}"), &sum.source())?;
            let columns = Reduce { team: 8, along: false, split: true, unroll, ..Reduce::PLAIN };
            self.put(&format!("columns8_u{unroll}"), &columns.source())?;
            let columns = Reduce { team: 1, along: false, split: true, unroll, ..Reduce::PLAIN };
            self.put(&format!("columns1_u{unroll}"), &columns.source())?;
        }
        Ok(())
    }

    fn scans(&self) -> std::io::Result<()> {
        let mut shapes = vec![("virtual".to_owned(), ScanShape::new(4, 1, false))];
        for (threads, groups) in [(128, 4), (128, 8), (256, 4), (256, 8), (384, 8), (512, 4), (512, 8)] {
            let shape = ScanShape { threads, groups, lanes: 4, rolled: false };
            shapes.push((format!("t{threads}_g{groups}"), shape));
        }
        for (name, shape) in shapes {
            let stage = ScanStage::Tiles(shape, None);
            let scan = ArrayScan { op: ScanOp::Sum, x: DType::I32, out: DType::I32, stage };
            self.put(&format!("scan_{name}"), &ArrayKernel::Scan(scan).source())?;
        }
        for (threads, groups, reducers) in
            [(256, 8, 4), (256, 8, 8), (256, 4, 8), (384, 4, 12), (512, 4, 8), (512, 4, 16), (384, 8, 12), (384, 8, 6)]
        {
            for (x, out, lanes) in
                [(DType::I32, DType::I32, 4), (DType::F64, DType::F64, 2), (DType::I32, DType::I64, 2)]
            {
                let shape = ScanShape { threads, groups, lanes, rolled: false };
                let Some(pipeline) = Pipeline::new(shape, out.itemsize(), x.itemsize(), 200 << 10) else { continue };
                let stage = ScanStage::Tiles(shape, Some(Pipeline { reducers, ..pipeline }));
                let scan = ArrayScan { op: ScanOp::Sum, x, out, stage };
                self.put(
                    &format!(
                        "staying_{x:?}_{out:?}_t{threads}_g{groups}_r{reducers}_s{}_b{}_T{}",
                        pipeline.stages,
                        pipeline.stage_bytes,
                        pipeline.threads(shape) + 32 * (reducers - 4)
                    ),
                    &ArrayKernel::Scan(scan).source(),
                )?;
            }
        }
        let registry = TypeRegistry::new();
        let generic = Scan {
            name: "scan".into(),
            arguments: parse_arguments("int *x, int *y", &registry).map_err(std::io::Error::other)?,
            item: CType::from(DType::I32),
            neutral: None,
            input_expr: "x[i]".into(),
            scan_expr: "a + b".into(),
            output_statement: "y[i] = item".into(),
            segment_start: None,
            fetches: vec![],
            index: "long".into(),
            preamble: String::new(),
        };
        let form =
            |lanes, machine| ScanForm { shape: ScanShape::new(4, lanes, machine), pipeline: None, totals_only: false };
        self.put("generic_packed", &generic.source(&form(4, true)))?;
        self.put("generic_plain", &generic.source(&form(1, true)))?;
        let shape = ScanShape::new(4, 4, true);
        let staying = ScanForm { shape, pipeline: generic.pipeline(shape, 200 << 10), totals_only: false };
        self.put("generic_staying", &generic.source(&staying))?;
        self.put("generic_virtual", &generic.source(&form(1, false)))
    }

    fn sweeps(&self) -> std::io::Result<()> {
        let put = |name: &str, kernel: Radix| self.put(name, &ArrayKernel::Radix(kernel).source());
        put("radix_count", Radix::new(DType::I32, false, RadixStage::Count))?;
        for (kind, payload) in [("keys", Payload::None), ("places", Payload::Taken)] {
            let stage = RadixStage::Sweep { payload, last: false };
            for (threads, blocks, items) in [(256, 3, 20), (256, 4, 20), (256, 3, 24), (256, 3, 28), (384, 2, 24)] {
                for dtype in [DType::I32, DType::I64] {
                    let items = if dtype == DType::I64 { items / 2 } else { items };
                    let kernel = Radix { threads, blocks, items, ..Radix::new(dtype, false, stage) };
                    put(&format!("radix_{kind}_{dtype:?}_t{threads}_b{blocks}_i{items}"), kernel)?;
                }
            }
        }
        Ok(())
    }

    fn turned(&self) -> std::io::Result<()> {
        let element = |dtype| Operand { dtype, access: Access::Element };
        let space = Space { ndim: 2, wide: false };
        for (name, dtype, sides) in [("f32", DType::F32, [32, 64]), ("f16", DType::F16, [32, 64])] {
            for side in sides {
                let operands = [element(dtype), element(dtype), Operand::UNUSED, Operand::UNUSED];
                let walk = Walk::Tiled(space, Tile { axis: 0, turned: 2, side });
                let compute = if dtype == DType::F16 { DType::F32 } else { dtype };
                let sum = Pointwise { op: Op::Add, compute, out: dtype, out_unaligned: false, operands, walk };
                self.put(&format!("turned_{name}_s{side}"), &sum.source())?;
            }
        }
        Ok(())
    }

    fn random(&self) -> std::io::Result<()> {
        for (name, draw) in [("uniform", Draw::Unit), ("normal", Draw::Normal)] {
            for at_once in [1, 2, 4] {
                for fast in [false, true] {
                    let shape = CounterShape { at_once, fast };
                    let text = source_in(Engine::Philox, draw, &CType::from(DType::F32), shape);
                    let fast = if fast { "_fast" } else { "" };
                    if draw == Draw::Normal || fast.is_empty() {
                        self.put(&format!("{name}_c{at_once}{fast}"), &text)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn main() -> std::io::Result<()> {
    let writer = Writer(std::env::args().nth(1).unwrap_or_else(|| ".".into()).into());
    writer.reductions()?;
    writer.scans()?;
    writer.sweeps()?;
    writer.turned()?;
    writer.random()
}
