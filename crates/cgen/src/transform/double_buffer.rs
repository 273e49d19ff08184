//! Double buffering: loads the next tile while the present one is used.

use super::{Amount, CountedLoop, Result, Transformed, error, statement};
use crate::dtype::Dtype;
use crate::expr::Expr;
use crate::tree::{Block, Declarator, For, If, Node, Wrapper};

/// Builds a loop over tiles with `buffers` buffers of `size` elements in shared memory: with two buffers it loads the
/// next tile while the present one is used, with one buffer afterwards.
///
/// `load(i, buffer)` copies the tile for the loop value `i`, and `use_tile(i, buffer)` processes it; they replace the
/// loop's own body. All threads of the block run the loop, and neither part needs barriers of its own for the buffers.
pub fn double_buffer(
    node: &For,
    dtype: Dtype,
    size: impl Into<Expr>,
    buffers: impl Into<Amount>,
    mut load: impl FnMut(&Expr, &Expr) -> Result<Node>,
    mut use_tile: impl FnMut(&Expr, &Expr) -> Result<Node>,
) -> Result<Transformed> {
    let counted = CountedLoop::from_for(node)?;
    if dtype.size() == 0 {
        return error("dtype is void, expected a type of elements");
    }
    let mut parameters = Vec::new();
    let buffers = buffers.into();
    let fixed = if let Amount::Fixed(n) = &buffers { Some(*n) } else { None };
    let n = buffers.resolve("buffers", &[1, 2], |n| (1..=2).contains(&n), &mut parameters)?;
    // Named after the loop's variable: loops within one another have different ones.
    let name = format!("{}_buffers", counted.name);
    let slot = Expr::var(format!("{}_slot", counted.name), Dtype::Int32);
    let buffer = |slot: &Expr| Expr::var(&name, dtype).index(slot);
    let declarator = Declarator::pod(dtype, &name).array(n.clone()).array(size).wrapped(Wrapper::CudaShared);
    let (i, next) = (counted.variable(), counted.variable() + &counted.step);
    let barrier = || statement("__syncthreads()");
    let when = |condition: Expr, nodes: Vec<Node>| Node::from(If::new(condition, Block::new(nodes)));
    let other = &n - 1 - &slot;
    let ahead = when(counted.contains(&next), vec![load(&next, &buffer(&other))?]);
    let behind = when(counted.contains(&next), vec![load(&next, &buffer(&slot))?]);
    let used = use_tile(&i, &buffer(&slot))?;
    // The last barrier of a round ends both the use of one buffer and the filling of the other.
    let alternate = slot.assign(&other).into();
    let body = match fixed {
        Some(1) => vec![used, barrier(), behind, barrier()],
        Some(_) => vec![ahead, used, barrier(), alternate],
        None => {
            let two = || n.greater(1);
            let one = when(n.equal(1), vec![behind, barrier()]);
            vec![when(two(), vec![ahead]), used, barrier(), one, alternate]
        }
    };
    let first = &counted.first;
    let zero = Expr::from(0);
    let slots = crate::tree::Initializer::new(Declarator::pod(Dtype::Int32, slot.to_string()), zero.clone());
    let condition = counted.contains(&i);
    let rounds = counted.for_loop(&counted.name, first.clone(), condition, &counted.step, Block::new(body).into());
    let prologue = when(counted.contains(first), vec![load(first, &buffer(&zero))?]);
    let nodes = [declarator.into(), slots.into(), prologue, barrier(), rounds.into()];
    Ok(Transformed { node: Block::new(nodes).into(), parameters, value: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_tile_is_loaded_before_the_present_one_is_used() {
        let node = For::new("int t = 0", "t < n", "++t", Node::Line(String::new()));
        let call = |name: &'static str| move |i: &Expr, b: &Expr| Ok(statement(&format!("{name}({i}, {b})")));
        let two = double_buffer(&node, Dtype::Float32, "64", 2, call("load"), call("work")).unwrap();
        let text = two.node.source().unwrap();
        let (ahead, work) = (text.find("load(t + 1, t_buffers").unwrap(), text.find("work(t, t_buffers").unwrap());
        assert!(ahead < work, "{text}");
        assert_eq!(text.matches("__syncthreads()").count(), 2);
        let one = double_buffer(&node, Dtype::Float32, "64", 1, call("load"), call("work")).unwrap();
        let text = one.node.source().unwrap();
        assert!(text.find("load(t + 1").unwrap() > text.find("work(t").unwrap(), "{text}");
        let error = double_buffer(&node, Dtype::Float32, "64", 3, call("a"), call("b")).unwrap_err();
        assert!(error.to_string().contains("buffers is 3"));
    }
}
