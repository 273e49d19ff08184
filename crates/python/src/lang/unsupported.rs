//! What the language does not have, and what to write instead.

use rtcg::lang::surface::Unsupported;

/// A construct, and what to write instead.
pub(super) fn unsupported(what: impl AsRef<str>, advice: &str) -> Unsupported {
    Unsupported { what: what.as_ref().into(), advice: advice.into() }
}

/// A node of Python's `ast`, by the name of its class.
pub(super) fn node(class: &str) -> Unsupported {
    let known = NODES.iter().find(|(name, ..)| *name == class);
    known.map_or_else(|| unsupported(format!("`{class}`"), ""), |(_, what, advice)| unsupported(what, advice))
}

const LOOP: &str = "write a comprehension or `map` for values that do not depend on each other, `reduce` or `scan` for \
                    running values, as in `scan(op_add, x)`, or a function whose last step is to call itself";
const TEXT: &str = "values are numbers, tuples and sequences";
const PURE: &str = "return the value: a program changes nothing outside of it";
const NO_EXCEPTIONS: &str = "check the arguments before the call, or the results after it";
const LIST: &str = "write a list comprehension, `[... for ... in ...]`";
const SEQUENCE: &str = "return the whole sequence, such as a comprehension";

/// Classes of `ast`, what they are called, and what to write instead.
const NODES: &[(&str, &str, &str)] = &[
    ("For", "a `for` loop", LOOP),
    ("AsyncFor", "an `async for` loop", LOOP),
    ("While", "a `while` loop", "write a function whose last step is to call itself"),
    ("With", "a `with` statement", "write it around the call of the program"),
    ("AsyncWith", "an `async with` statement", "write it around the call of the program"),
    ("Try", "a `try` statement", "write `if` and `else`: a program raises no exceptions"),
    ("TryStar", "a `try` statement", "write `if` and `else`: a program raises no exceptions"),
    ("Raise", "a `raise` statement", NO_EXCEPTIONS),
    ("Assert", "an `assert` statement", NO_EXCEPTIONS),
    ("Delete", "a `del` statement", "leave it out: memory is freed when its value is not needed any more"),
    ("Import", "an `import` statement", "write it at the top of the file"),
    ("ImportFrom", "an `import` statement", "write it at the top of the file"),
    ("Global", "a `global` statement", PURE),
    ("Nonlocal", "a `nonlocal` statement", PURE),
    ("ClassDef", "a class", "write functions and tuples"),
    ("TypeAlias", "a `type` statement", "write it outside of the program"),
    ("AsyncFunctionDef", "an `async` function", "write `def` without `async`"),
    ("Match", "a `match` statement", "write `if` and `elif`"),
    ("Yield", "`yield`", SEQUENCE),
    ("YieldFrom", "`yield from`", SEQUENCE),
    ("Await", "`await`", "wait before the call of the program"),
    ("JoinedStr", "an f-string", TEXT),
    ("TemplateStr", "a t-string", TEXT),
    ("str", "a string", TEXT),
    ("bytes", "a bytes literal", TEXT),
    ("NoneType", "`None`", "return a value on every path: programs have numbers, tuples and sequences alone"),
    ("ellipsis", "`...`", "write out all indices"),
    ("Set", "a set", "write a list or a tuple"),
    ("Dict", "a dictionary", "write a tuple"),
    ("SetComp", "a set comprehension", LIST),
    ("DictComp", "a dictionary comprehension", LIST),
    ("GeneratorExp", "a generator expression", LIST),
    ("NamedExpr", "an assignment expression, `:=`", "write the assignment as a statement of its own"),
    ("Starred", "a starred expression", "write out its elements"),
    (
        "Slice",
        "a slice",
        "write `[x[i] for i in bounded_range(start, stop)]`, or `shift(x, n, default)` to move elements",
    ),
    ("Is", "`is`", "write `==`, with a number: programs have no `None`"),
    ("IsNot", "`is not`", "write `!=`, with a number: programs have no `None`"),
    ("In", "`in`", "write `any([value == element for element in x])`"),
    ("NotIn", "`not in`", "write `all([value != element for element in x])`"),
    ("MatMult", "the operator `@`", "write `sum(map(op_mul, x, y))`, for each row of a matrix"),
    ("vararg", "a starred parameter", "write a parameter for each argument, or one for a tuple"),
    ("kwarg", "a parameter for keyword arguments", "write a parameter for each argument"),
    ("kwonlyargs", "a keyword-only parameter", "leave out the `*`: arguments are passed by position"),
    (
        "defaults",
        "a default value",
        "leave it out and pass the argument in every call; names from outside need no `name=name`",
    ),
    ("keyword", "a keyword argument", "pass it by position"),
    ("Attribute", "an assignment to an attribute", "return the value: a program changes nothing outside of it"),
    ("Subscript", "an assignment to an element", "write `update(x, [(i, v)])`, which is `x` with `v` at `i`"),
    ("targets", "a chain of assignments", "write an assignment for each target"),
    (
        "decorator",
        "a decorator of an inner function",
        "leave it out: inner functions belong to the program around them",
    ),
    ("async generator", "`async for`", "write `for` without `async`"),
    (
        "Expr",
        "an expression whose value is not used",
        "assign it to a name or return it: nothing else is an effect of a program",
    ),
    ("depth", "an expression or a block within too many others", "give parts of it names, or write functions"),
];
