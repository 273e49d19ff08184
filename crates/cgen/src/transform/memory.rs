//! Staging of arrays in shared memory, and vectorised loads.

use super::{Amount, Parameter, Result, Transformed, error, product, statement};
use crate::dtype::Dtype;
use crate::expr::{Expr, Kind, Number};
use crate::names::{is_identifier, unused};
use crate::tree::{Assign, Block, Declarator, For, Initializer, Node, Wrapper};

/// What [`stage`] copies, and how.
#[derive(Clone, Debug)]
pub struct Stage {
    /// A variable that points to elements of its dtype.
    pub array: Expr,
    /// Size of the tile: columns, or rows and columns.
    pub tile: Vec<Amount>,
    /// Start of the tile in the array, with as many coordinates as `tile`.
    pub origin: Vec<Expr>,
    /// Elements from one row of the array to the next; only for tiles with rows.
    pub pitch: Option<Expr>,
    /// Size of the array; elements before its start or beyond its end are zero in the tile. `None` if the tile is
    /// inside.
    pub bounds: Option<Vec<Expr>>,
    /// The name of the tile; by default the array's with `_tile`. Tiles in the same scope need different names.
    pub name: Option<String>,
    /// Padding elements per row of the tile, so that its columns are in different banks.
    pub pad: Amount,
}

impl Stage {
    fn check(&self) -> Result<Dtype> {
        let Some(dtype) = self.array.dtype() else {
            return error(format!("array '{}' has no dtype, which the tile needs", self.array));
        };
        let dims = self.tile.len();
        if !(1..=2).contains(&dims)
            || self.origin.len() != dims
            || self.bounds.as_ref().is_some_and(|b| b.len() != dims)
        {
            return error(format!("tile has {dims} sizes, expected 1 or 2 and as many in origin and bounds"));
        }
        if (dims == 2) != self.pitch.is_some() {
            return error(format!("pitch is for tiles of two sizes and those need it; tile has {dims}"));
        }
        Ok(dtype)
    }

    /// Copies an element of the array to its place in the tile; zero where it lies outside of the array.
    fn copy(&self, name: &str, target: Expr, place: &[Expr], dtype: Dtype) -> Node {
        let sums: Vec<_> = self.origin.iter().zip(place).map(|(origin, p)| origin + p).collect();
        let Some(bounds) = &self.bounds else { return Assign::new(target, self.element(&sums)).into() };
        // Signed and wide whatever the origin is, so that both ends can be compared.
        let at: Vec<_> = (0..sums.len()).map(|axis| Expr::var(format!("{name}_at_{axis}"), Dtype::Int64)).collect();
        let declare = |(at, sum): (&Expr, &Expr)| Initializer::new(Declarator::value("long long", at.to_string()), sum);
        let inside = at.iter().zip(bounds).flat_map(|(at, bound)| [at.greater_equal(0), at.less(bound)]);
        let value = match inside.reduce(|a, b| a.and(b)) {
            Some(inside) => inside.conditional(self.element(&at), zero(dtype)),
            None => self.element(&at),
        };
        let declarations = at.iter().zip(&sums).map(|pair| declare(pair).into());
        Block::new(declarations.chain([Assign::new(target, value).into()])).into()
    }

    fn element(&self, at: &[Expr]) -> Expr {
        let index = match &self.pitch {
            Some(pitch) => &at[0] * pitch + &at[1],
            None => at[0].clone(),
        };
        self.array.clone().index(index)
    }
}

fn zero(dtype: Dtype) -> Expr {
    Expr::literal(Number::Int(0), dtype).unwrap_or_else(|_| Expr::from(0).cast_to(dtype))
}

/// Thread of the block, and number of its threads.
fn threads() -> (Expr, Expr) {
    let part = |name: &str, axis: &str| Expr::var(name, None).member(axis);
    let (x, y) = (part("blockDim", "x"), part("blockDim", "y"));
    let index = part("threadIdx", "x") + x.clone() * (part("threadIdx", "y") + y.clone() * part("threadIdx", "z"));
    (index, x * y * part("blockDim", "z"))
}

/// Stages a tile of an array in shared memory, copied by all threads of the block: a declaration, a loop and a barrier,
/// which all threads must reach. `value` is the tile, indexed as `tile[row][column]` or `tile[column]`. Before staging
/// the tile again, the program needs a barrier of its own.
pub fn stage(what: Stage) -> Result<Transformed> {
    let dtype = what.check()?;
    let mut parameters = Vec::new();
    let mut sizes = Vec::new();
    for size in &what.tile {
        sizes.push(size.clone().resolve("tile", &[8, 16, 32], |n| n > 0, &mut parameters)?);
    }
    if let Some(name) = what.name.as_ref().filter(|name| !is_identifier(name)) {
        return error(format!("name is '{name}', expected an identifier"));
    }
    let pad = what.pad.clone().resolve("pad", &[0, 1], |n| n >= 0, &mut parameters)?;
    let name = what.name.clone().unwrap_or_else(|| unused(&format!("{}_tile", what.array), ""));
    let tile = Expr::var(&name, dtype);
    let columns = sizes[sizes.len() - 1].clone();
    // Padding keeps rows apart; one row needs none.
    let padded = if sizes.len() == 1 || pad.to_string() == "0" { columns.clone() } else { &columns + &pad };
    let scalar = Declarator::pod(dtype, &name);
    let declarator = if sizes.len() == 2 { scalar.array(sizes[0].clone()).array(padded) } else { scalar.array(padded) };
    let element = Expr::var(format!("{name}_element"), Dtype::Int32);
    let place = match sizes.len() {
        1 => vec![element.clone()],
        _ => vec![&element / &columns, &element % &columns],
    };
    let target = place.iter().fold(tile.clone(), |target, p| target.index(p));
    let (thread, n_threads) = threads();
    let count = sizes.iter().cloned().reduce(|a, b| product(a, &b)).unwrap_or(columns);
    let copy = what.copy(&name, target, &place, dtype);
    let copies = For::range(&element, thread, count, n_threads, copy);
    let parts = [declarator.cuda_shared().into(), copies.into(), statement("__syncthreads()")];
    Ok(Transformed { node: Node::Collection(parts.into()), parameters, value: Some(tile) })
}

/// CUDA's name of vectors of this type, and the widest of 16 bytes.
fn vector_of(dtype: Dtype) -> Option<(&'static str, i64)> {
    use Dtype::*;
    Some(match dtype {
        Int8 => ("char", 4),
        Uint8 => ("uchar", 4),
        Int16 => ("short", 4),
        Uint16 => ("ushort", 4),
        Int32 => ("int", 4),
        Uint32 => ("uint", 4),
        Int64 => ("longlong", 2),
        Uint64 => ("ulonglong", 2),
        Float32 => ("float", 4),
        Float64 => ("double", 2),
        _ => return None,
    })
}

/// Loads `width` values, starting at the element `load` (an `array[index]`), in one access. `value` is an array of
/// them. The address must be a multiple of the number of bytes loaded; the width is 1, 2 or 4, and at most 16 bytes.
/// The new array is called `name`, by default that of the loaded array with `_loaded`.
pub fn vectorise(load: &Expr, width: impl Into<Amount>, name: Option<&str>) -> Result<Transformed> {
    let Kind::Index(array, _) = &*load.kind else {
        return error(format!("load is '{load}', expected an element of an array: array[index]"));
    };
    let Some((dtype, (vector, widest))) = load.dtype().and_then(|t| Some((t, vector_of(t)?))) else {
        return error(format!("load '{load}' has the type {:?}, of which there are no vectors", load.dtype()));
    };
    let widths: Vec<i64> = [1, 2, 4].into_iter().filter(|&w| w <= widest).collect();
    let width = width.into();
    let fixed = matches!(width, Amount::Fixed(_));
    let mut parameters: Vec<Parameter> = Vec::new();
    let n = width.resolve("width", &widths, |w| widths.contains(&w), &mut parameters)?;
    if let Some(name) = name.filter(|name| !is_identifier(name)) {
        return error(format!("name is '{name}', expected an identifier"));
    }
    let name = name.map_or_else(|| unused(&format!("{array}_loaded"), ""), str::to_owned);
    let (mut nodes, typename) = if fixed { (Vec::new(), format!("{vector}{n}")) } else { joined(vector, &n) };
    let size = Expr::raw(dtype.size().to_string());
    let bytes = n.to_string().parse::<usize>().map_or_else(|_| &n * size, |n| (n * dtype.size()).to_string().into());
    let values = Declarator::pod(dtype, &name).array(n);
    nodes.push(values.wrapped(Wrapper::Aligned(bytes)).into());
    let source = load.clone().address().cast(format!("const {typename} *")).dereference();
    let target = Expr::var(&name, None).cast(format!("{typename} *")).dereference();
    nodes.push(Assign::new(target, source).into());
    Ok(Transformed { node: Node::Collection(nodes), parameters, value: Some(Expr::var(name, dtype)) })
}

/// The name of a vector type whose width is a macro: two words joined after the macro is expanded.
fn joined(vector: &str, n: &Expr) -> (Vec<Node>, String) {
    let define = |symbol: &str, value: &str| Node::Define(symbol.to_owned(), value.to_owned());
    let macros = vec![define("RTCG_PASTE(a, b)", "a##b"), define("RTCG_JOIN(a, b)", "RTCG_PASTE(a, b)")];
    (macros, format!("RTCG_JOIN({vector}, {n})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Stage {
        Stage {
            array: Expr::var("a", Dtype::Float32),
            tile: vec!["T".into(), 8.into()],
            origin: vec!["y".into(), "x".into()],
            pitch: Some("w".into()),
            bounds: Some(vec!["h".into(), "w".into()]),
            name: None,
            pad: 1.into(),
        }
    }

    #[test]
    fn a_tile_is_declared_copied_and_waited_for() {
        let staged = stage(rows()).unwrap();
        let text = staged.node.source().unwrap();
        assert!(
            text.starts_with("__shared__ float a_tile[T][8 + 1];\nfor (int a_tile_element = threadIdx.x + "),
            "{text}"
        );
        assert!(
            text.contains("element < T * 8; a_tile_element += blockDim.x * blockDim.y * blockDim.z)\n{\n"),
            "{text}"
        );
        assert!(text.contains(" = y + a_tile_element / 8;\n  long long a_tile_at_1"), "{text}");
        assert!(text.ends_with(" : 0.0f;\n}\n__syncthreads();"), "{text}");
        let inside = stage(Stage { bounds: None, ..rows() }).unwrap().node.source().unwrap();
        assert!(inside.contains("= a[(y + a_tile_element / 8)"), "{inside}");
        assert_eq!(staged.parameters.len(), 1);
    }

    #[test]
    fn stages_that_cannot_be_are_refused() {
        let refused = |change: fn(&mut Stage)| {
            let mut what = rows();
            change(&mut what);
            stage(what).unwrap_err().to_string()
        };
        assert!(refused(|s| s.array = Expr::var("a", None)).contains("'a' has no dtype"));
        assert!(refused(|s| s.pitch = None).contains("pitch"));
        assert!(refused(|s| s.tile.clear()).contains("0 sizes"));
        assert!(refused(|s| s.pad = (-1).into()).contains("pad is -1"));
    }

    #[test]
    fn loads_are_casts_to_vectors() {
        let load = Expr::var("a", Dtype::Float32).index(Expr::raw("4 * i"));
        let four = vectorise(&load, 4, None).unwrap();
        assert_eq!(
            four.node.source().unwrap(),
            "float a_loaded[4] __attribute__ ((aligned (16)));\n*(float4 *)a_loaded = *(const float4 *)&a[4 * i];"
        );
        let named = vectorise(&load, "W", Some("four")).unwrap();
        assert!(named.node.source().unwrap().contains("*(RTCG_JOIN(float, W) *)four"));
        assert_eq!(named.parameters[0].values, [1, 2, 4]);
        let wide = Expr::var("a", Dtype::Float64).index(0);
        assert!(vectorise(&wide, 4, None).unwrap_err().to_string().contains("width is 4"));
        assert!(vectorise(&Expr::var("a", Dtype::Float64), 2, None).unwrap_err().to_string().contains("array[index]"));
    }
}
