//! Kernels made of typed trees, with and without transformations: the results are the same.

use rtcg::cgen::dtype::Dtype::{Float32, Int32, Uint32};
use rtcg::cgen::expr::Expr;
use rtcg::cgen::transform::{Amount, Remainder, Stage, double_buffer, split, stage, unroll, vectorise};
use rtcg::cgen::tree::*;
use rtcg::prelude::*;

const N: usize = 64;

/// What `body` makes of `a`, the numbers below `N`, in one block of 16 threads; `n` is a parameter of the kernel.
fn run(body: Vec<Node>, n: i32) -> Vec<u32> {
    let parameters = [
        Declarator::pod(Uint32, "out").pointer(),
        Declarator::pod(Uint32, "a").constant().pointer(),
        Declarator::pod(Int32, "n"),
    ];
    let kernel = FunctionBody::new(Declarator::value("void", "kernel").function(parameters).cuda_global(), body);
    let source = Node::from(kernel).source().expect("a well-formed tree");
    let ctx = Context::new().expect("the virtual GPU is always there");
    let function = ctx.compile(&source).expect(&source).function("kernel").expect("the kernel");
    let a: Vec<u32> = (0..N as u32).map(|i| i * i + 1).collect();
    let (a, out) = (ctx.to_device(&a).unwrap(), ctx.zeros::<u32>(N).unwrap());
    // SAFETY: the kernels of this file stay inside N elements of both.
    unsafe { function.launch(Grid::new(1u32, 16u32), &[&out, &a, &n]).unwrap() };
    out.to_vec().unwrap()
}

fn word(name: &str) -> Expr {
    Expr::var(name, Uint32)
}

fn thread() -> Expr {
    Expr::var("threadIdx", None).member("x")
}

fn add(value: impl Into<Expr>) -> Node {
    Assign::new(word("sum"), word("sum") * 31_u32 + value).into()
}

/// A sum that starts at the thread's number, and the statements that add to it.
fn summed(node: Node, n: i32) -> Vec<u32> {
    let start = Initializer::new(Declarator::pod(Uint32, "sum"), thread());
    run(vec![start.into(), node, Assign::new(word("out").index(thread()), word("sum")).into()], n)
}

fn counting() -> For {
    let i = Expr::var("i", Int32);
    For::range(&i, 0, Expr::var("n", Int32), 1, Block::new([add(word("a").index(&i))]))
}

#[test]
fn split_and_unrolled_loops() {
    for n in [0, 1, 5, 8, 33] {
        let plain = summed(counting().into(), n);
        for remainder in [Remainder::Guard, Remainder::Slab] {
            assert_eq!(summed(split(counting(), 4, remainder, true).unwrap().node, n), plain, "{n} {remainder:?}");
        }
        assert_eq!(summed(unroll(counting(), Some(3.into())).unwrap().node, n), plain);
    }
}

#[test]
fn a_parameter_is_defined_by_its_name() {
    let made = split(counting(), Amount::tuned("PART", [2, 8]), Remainder::Slab, false).unwrap();
    assert_eq!(made.parameters[0].name, "PART");
    let plain = summed(counting().into(), 13);
    for value in &made.parameters[0].values {
        let define = Node::Define("PART".to_owned(), value.to_string());
        assert_eq!(summed(Block::new([define, made.node.clone()]).into(), 13), plain);
    }
}

#[test]
fn staged_tiles_and_wide_loads() {
    let reversed = |array: &Expr| add(array.clone().index(Expr::from(15) - thread()));
    let plain = summed(reversed(&word("a")), 0);
    let what = Stage {
        array: word("a"),
        tile: vec![16.into()],
        origin: vec![Expr::from(0)],
        pitch: None,
        bounds: None,
        name: None,
        pad: 1.into(),
    };
    let staged = stage(what).unwrap();
    let tile = staged.value.unwrap();
    assert_eq!(summed(Block::new([staged.node, reversed(&tile)]).into(), 0), plain);

    let each = |array: Expr, first: Expr| (0..4).map(|k| add(array.clone().index(&first + k))).collect::<Vec<_>>();
    let first = thread() * 4;
    let plain = summed(Block::new(each(word("a"), first.clone())).into(), 0);
    let wide = vectorise(&word("a").index(first), 4, None).unwrap();
    let loaded = each(wide.value.unwrap(), Expr::from(0));
    assert_eq!(summed(Block::new(std::iter::once(wide.node).chain(loaded)).into(), 0), plain);
}

#[test]
fn double_buffered_tiles() {
    let t = Expr::var("t", Int32);
    let tile = |body: Node| For::range(&t, 0, Expr::var("n", Int32), 1, body);
    let neighbour = || (thread() + 1) % 16;
    for n in [0, 1, 4] {
        let plain = summed(tile(add(word("a").index(&t * 16 + neighbour()))).into(), n);
        for buffers in [1, 2] {
            let load = |i: &Expr, buffer: &Expr| {
                Ok(Assign::new(buffer.clone().index(thread()), word("a").index(i * 16 + thread())).into())
            };
            let sum = |_: &Expr, buffer: &Expr| Ok(add(buffer.clone().index(neighbour())));
            let node = tile(Block::default().into());
            let made = double_buffer(&node, Uint32, Expr::from(16), buffers, load, sum).unwrap();
            assert_eq!(summed(made.node, n), plain, "{n} tiles, {buffers} buffers");
        }
    }
}

#[test]
fn layouts_are_the_compilers() {
    let inner = Struct::new("Inner", [Declarator::pod(Float32, "x"), Declarator::value("char", "c")]);
    let members = [Declarator::pod(rtcg::cgen::dtype::Dtype::Int8, "c"), Declarator::pod(Float32, "x").array("3")];
    let outer = Struct::new("Outer", members.into_iter().chain([Declarator::pod(Float32, "p").pointer()]));
    assert_eq!(inner.layout(), None);
    let layout = outer.layout().unwrap();
    let offset = |member: &str| Expr::raw(format!("(unsigned)(size_t)&((Outer *)0)->{member}"));
    let values = ["c", "x", "p"].map(offset).into_iter().chain(["(unsigned)sizeof(Outer)".into()]);
    let stores = values.enumerate().map(|(i, value)| Assign::new(word("out").index(i as i32), value).into());
    let out = run(std::iter::once(outer.into()).chain(stores).collect(), 0);
    let expected: Vec<_> = layout.offsets.iter().chain([&layout.nbytes]).map(|&v| v as u32).collect();
    assert_eq!(out[..4], expected);
}
