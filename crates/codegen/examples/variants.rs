//! Writes generated kernels in several geometries to a directory, for timing them side by side:
//! `cargo run -p rtcg-codegen --example variants DIRECTORY`.

use rtcg_codegen::DType;
use rtcg_codegen::array::{
    Access, ArrayKernel, Op, Operand, Payload, Pointwise, Radix, RadixStage, Reduce, Scan as ArrayScan, ScanOp,
    ScanStage, Space, Tile, Walk,
};
use rtcg_codegen::carg::{CType, TypeRegistry, parse_arguments};
use rtcg_codegen::random::{CounterShape, Draw, Engine, source_in};
use rtcg_codegen::scan::{Scan, ScanForm, ScanShape};
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
        for (threads, groups) in
            [(128, 4), (128, 6), (128, 8), (256, 3), (256, 4), (256, 6), (256, 8), (512, 4), (512, 6)]
        {
            let shape = ScanShape { threads, groups, lanes: 4, rolled: false };
            shapes.push((format!("t{threads}_g{groups}"), shape));
        }
        for (name, shape) in shapes {
            let scan = ArrayScan { op: ScanOp::Sum, x: DType::I32, out: DType::I32, stage: ScanStage::Tiles(shape) };
            self.put(&format!("scan_{name}"), &ArrayKernel::Scan(scan).source())?;
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
        let form = |lanes, machine| ScanForm { shape: ScanShape::new(4, lanes, machine), totals_only: false };
        self.put("generic_packed", &generic.source(&form(4, true)))?;
        self.put("generic_plain", &generic.source(&form(1, true)))?;
        self.put("generic_virtual", &generic.source(&form(1, false)))
    }

    fn sweeps(&self) -> std::io::Result<()> {
        let put = |name: &str, kernel: Radix| self.put(name, &ArrayKernel::Radix(kernel).source());
        put("radix_count", Radix::new(DType::I32, false, RadixStage::Count))?;
        let stage = RadixStage::Sweep { payload: Payload::None, last: false };
        for (threads, items) in [(256, 12), (256, 16), (256, 20), (256, 24), (384, 12), (384, 16), (384, 20), (512, 12)]
        {
            let kernel = Radix { threads, items, ..Radix::new(DType::I32, false, stage) };
            put(&format!("radix_t{threads}_i{items}"), kernel)?;
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
