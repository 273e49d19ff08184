//! Which lane holds which element of a fragment.
//!
//! The PTX ISA fixes this for `mma` and leaves it open for `wmma`; here `wmma` has the fragments of
//! the `mma` it would be made of: matrices of 16 rows (8, if it has no more), one after the other.
//! With 8 rows and 32 columns it computes the transposed product, so that its fragments are those of the product with
//! 32 rows and 8 columns, transposed.
//! The unit is eight rows of 128 bits (256 for double precision) that four lanes share, four lanes
//! per row: rows of `a`, columns of `b`. Accumulators have rows of eight elements, two per lane.

use rtcg_ptx::ast::{MatrixLayout, MatrixProduct, MatrixRole, MatrixShape, MatrixType};

/// A fragment of `mma` or `wmma`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// Which matrix of a product.
    pub role: MatrixRole,
    /// Sizes of the product.
    pub shape: MatrixShape,
    /// Type of the elements.
    pub ty: MatrixType,
}

/// The place of an element: register, lane, lowest bit within the register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FragmentPosition {
    /// Number of the register.
    pub register: usize,
    /// Number of the lane.
    pub lane: usize,
    /// Lowest bit within the register.
    pub bit: u32,
}

impl Fragment {
    /// A fragment of a dense product.
    pub(crate) fn dense_fragment(form: &MatrixProduct, role: MatrixRole) -> Fragment {
        Fragment { role, shape: form.shape, ty: form.element_type(role) }
    }

    /// The fragment that holds the transposed matrix in the same registers.
    pub(crate) fn transposed(self) -> Fragment {
        let role = match self.role {
            MatrixRole::A => MatrixRole::B,
            MatrixRole::B => MatrixRole::A,
            sum => sum,
        };
        Fragment { role, shape: transposed_shape(self.shape), ty: self.ty }
    }

    /// Rows and columns.
    pub(crate) fn matrix_extent(self) -> (usize, usize) {
        let (m, n, k) = (self.shape.m as usize, self.shape.n as usize, self.shape.k as usize);
        match self.role {
            MatrixRole::A => (m, k),
            MatrixRole::B => (k, n),
            MatrixRole::C | MatrixRole::D => (m, n),
        }
    }

    /// Registers per lane that hold the matrix once.
    pub fn registers_per_lane(self) -> usize {
        let (rows, cols) = self.matrix_extent();
        rows * cols * self.ty.bits() as usize / (32 * self.ty.register_bits() as usize)
    }

    /// Elements in a register.
    pub(crate) fn elements_per_register(self) -> usize {
        (self.ty.register_bits() / self.ty.bits()) as usize
    }

    /// Units of eight rows that registers run through before the next column, for `a` and sums.
    pub(crate) fn n_row_groups(self) -> usize {
        (self.shape.m as usize / 8).min(2)
    }

    /// The place of an element.
    pub(crate) fn element_position(self, row: usize, col: usize) -> FragmentPosition {
        match self.role {
            MatrixRole::A => self.operand_position(row, col, self.n_row_groups()),
            MatrixRole::B => self.operand_position(col, row, 1),
            MatrixRole::C | MatrixRole::D => self.accumulator_position(row, col),
        }
    }

    /// The place in an operand whose lines of `k` elements go to four lanes each.
    fn operand_position(self, line: usize, k: usize, halves: usize) -> FragmentPosition {
        let per = self.elements_per_register();
        let units = self.shape.k as usize / (4 * per);
        let (unit, within) = (k / (4 * per), k % (4 * per));
        let (tile, half) = (line / (8 * halves), line / 8 % halves);
        FragmentPosition {
            register: (tile * units + unit) * halves + half,
            lane: line % 8 * 4 + within / per,
            bit: (within % per) as u32 * self.ty.bits(),
        }
    }

    fn accumulator_position(self, row: usize, col: usize) -> FragmentPosition {
        let halves = self.n_row_groups();
        let (tile, half) = (row / (8 * halves), row / 8 % halves);
        let unit = (tile * (self.shape.n as usize / 8) + col / 8) * halves + half;
        let lane = row % 8 * 4 + col % 8 / 2;
        if self.elements_per_register() == 2 {
            return FragmentPosition { register: unit, lane, bit: col as u32 % 2 * 16 };
        }
        FragmentPosition { register: unit * 2 + col % 2, lane, bit: 0 }
    }
}

/// Columns of the `wmma` of 8 rows that computes the transposed product.
pub const TRANSPOSED_COLUMNS: u32 = 32;

/// Whether the registers of a product hold the fragments of the transposed product.
pub(crate) fn is_held_transposed(shape: MatrixShape) -> bool {
    (shape.m, shape.n) == (8, TRANSPOSED_COLUMNS)
}

/// The shape of the transposed product.
pub(crate) fn transposed_shape(shape: MatrixShape) -> MatrixShape {
    MatrixShape { m: shape.n, n: shape.m, k: shape.k }
}

/// The other layout.
pub(crate) fn transposed_layout(layout: MatrixLayout) -> MatrixLayout {
    match layout {
        MatrixLayout::Row => MatrixLayout::Col,
        MatrixLayout::Col => MatrixLayout::Row,
    }
}

/// The first lane of a quad pair's lines 0 to 3 and of its lines 4 to 7.
fn quad_pair_first_lane(quad: usize, line: usize) -> usize {
    quad * 4 + line / 4 * 16
}

/// Where `mma.m8n8k4` of halves has element `k` of row `line` of a quad pair's `a`.
pub(crate) fn quad_pair_operand_position(layout: MatrixLayout, quad: usize, line: usize, k: usize) -> FragmentPosition {
    let (lane, index) = match layout {
        MatrixLayout::Row => (line % 4, k),
        MatrixLayout::Col => (k, line % 4),
    };
    FragmentPosition { register: index / 2, lane: quad_pair_first_lane(quad, line) + lane, bit: index as u32 % 2 * 16 }
}

/// Where it has an element of the sum.
pub(crate) fn quad_pair_accumulator_position(ty: MatrixType, quad: usize, row: usize, col: usize) -> FragmentPosition {
    let first = quad_pair_first_lane(quad, row);
    if ty == MatrixType::F16 {
        return FragmentPosition { register: col / 2, lane: first + row % 4, bit: col as u32 % 2 * 16 };
    }
    let lane = (row & 1) | (col & 2);
    FragmentPosition { register: (col & 4) | (row & 2) | (col & 1), lane: first + lane, bit: 0 }
}
