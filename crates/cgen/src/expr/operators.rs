//! Rust's operators on expressions, and methods for those that Rust cannot overload (comparisons, `&&`, assignment).

use super::{Binary, Expr, Unary};

macro_rules! operators {
    ($($trait:ident $method:ident $operator:ident),*) => {$(
        impl<R: Into<Expr>> std::ops::$trait<R> for Expr {
            type Output = Expr;
            fn $method(self, right: R) -> Expr {
                Expr::binary(Binary::$operator, self, right)
            }
        }
        impl<R: Into<Expr>> std::ops::$trait<R> for &Expr {
            type Output = Expr;
            fn $method(self, right: R) -> Expr {
                Expr::binary(Binary::$operator, self.clone(), right)
            }
        }
    )*};
}
operators!(
    Add add Add, Sub sub Subtract, Mul mul Multiply, Div div Divide, Rem rem Remainder, Shl shl ShiftLeft,
    Shr shr ShiftRight, BitAnd bitand BitAnd, BitOr bitor BitOr, BitXor bitxor BitXor
);

impl From<&Expr> for Expr {
    fn from(expr: &Expr) -> Self {
        expr.clone()
    }
}

impl std::ops::Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        Expr::unary(Unary::Negate, self)
    }
}

impl std::ops::Not for Expr {
    type Output = Expr;
    /// `~self`, as Rust's `!` on integers; the logical one is [`Expr::logical_not`].
    fn not(self) -> Expr {
        Expr::unary(Unary::Complement, self)
    }
}

macro_rules! methods {
    ($($name:ident $operator:ident $text:literal),*) => {
        impl Expr {$(
            #[doc = concat!("`self ", $text, " right`")]
            pub fn $name(&self, right: impl Into<Expr>) -> Expr {
                Expr::binary(Binary::$operator, self.clone(), right)
            }
        )*}
    };
}
methods!(
    less Less "<", less_equal LessEqual "<=", greater Greater ">", greater_equal GreaterEqual ">=", equal Equal "==",
    not_equal NotEqual "!=", and And "&&", or Or "||", assign Assign "=", add_assign AddAssign "+=",
    sub_assign SubtractAssign "-=", mul_assign MultiplyAssign "*=", div_assign DivideAssign "/="
);

impl Expr {
    /// `!self`
    pub fn logical_not(&self) -> Expr {
        Expr::unary(Unary::Not, self.clone())
    }

    /// `++self`
    pub fn increment(&self) -> Expr {
        Expr::unary(Unary::PreIncrement, self.clone())
    }

    /// `self++`
    pub fn post_increment(&self) -> Expr {
        Expr::unary(Unary::PostIncrement, self.clone())
    }
}
