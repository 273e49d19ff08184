use super::*;
use proptest::prelude::*;

fn value(text: &str) -> Value {
    let known = |name: &str| match name {
        "bx" => Some(Value::Int(32)),
        "by" => Some(Value::Int(-7)),
        "half" => Some(Value::Float(0.5)),
        "mode" => Some(Value::Str("fast".into())),
        "stage" => Some(Value::Bool(true)),
        "shape" => Some(Value::Tuple(vec![Value::Int(4), Value::Int(8)])),
        _ => None,
    };
    Expression::parse(text).unwrap().evaluate(&known).unwrap_or_else(|error| panic!("{error}"))
}

/// Expected values are what CPython gives.
#[test]
fn values_are_those_of_python() {
    let cases: &[(&str, Value)] = &[
        ("2 + 3 * 4 ** 2 // 5", Value::Int(11)),
        ("-7 // 2", Value::Int(-4)),
        ("by % 3", Value::Int(2)),
        ("7 % -3", Value::Int(-2)),
        ("7 / 2", Value::Float(3.5)),
        ("-2 ** 2", Value::Int(-4)),
        ("2 ** -1", Value::Float(0.5)),
        ("2 ** 3 ** 2", Value::Int(512)),
        ("1 < bx <= 32 != 5", Value::Bool(true)),
        ("1 < bx < 32", Value::Bool(false)),
        ("not bx == 32 or mode == 'fast'", Value::Bool(true)),
        ("!(bx == 32) || mode == \"slow\" && 1", Value::Bool(false)),
        ("mode in ('fast', 'slow') and bx not in [1, 2]", Value::Bool(true)),
        ("0 or bx", Value::Int(32)),
        ("stage + stage", Value::Int(2)),
        ("bx if not stage else half", Value::Float(0.5)),
        ("max(1, bx, 5) - min(shape)", Value::Int(28)),
        ("ceil_div(100, bx) + next_pow2(33) + abs(by)", Value::Int(75)),
        ("shape[-1] * len(shape)", Value::Int(16)),
        ("int(-3.7) + round(2.5) + round(3.5)", Value::Int(3)),
        ("log2(bx) == 5", Value::Bool(true)),
        ("p[\"bx\"] * 2", Value::Int(64)),
        ("(1,)", Value::Tuple(vec![Value::Int(1)])),
        ("0x10 | 1 << 3 & 9 ^ ~0", Value::Int(-9 | 16)),
        ("1_000 + .5e1", Value::Float(1005.0)),
        ("1 == 1.0 == True", Value::Bool(true)),
        ("[2**i * bx for i in range(3)][-1] + len([1] + list(range(9, 0, -2)))", Value::Int(134)),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), *expected, "{text}");
    }
}

#[test]
fn mistakes_are_shown_in_the_text() {
    let message = |text: &str| Expression::parse(text).unwrap_err().to_string();
    assert_eq!(message("bx * (by + 1"), "expression \"bx * (by + 1\": expected \")\"\n  bx * (by + 1\n              ^");
    assert!(message("bx $ 2").contains("'$' is no operator\n  bx $ 2\n     ^"));
    assert!(message("open('x')").contains("open is no known function"));
    assert!(message("bx *").contains("expected a value"));
    assert!(message("bx by").contains("expected an operator or the end"));
    assert!(message("'never ends").contains("does not end"));
    assert!(message(&"(".repeat(100_000)).contains("within each other"));
    assert!(message(&"-".repeat(100_000)).contains("operators within each other"));
    assert!(message("99999999999999999999").contains("no number"));
    let evaluate = |text: &str| Expression::parse(text).unwrap().evaluate(&|_| None).unwrap_err().to_string();
    assert!(evaluate("bx + 1").contains("the name bx is unknown"));
    assert!(evaluate("1 // 0").contains("divided by zero"));
    assert!(evaluate("9223372036854775807 + 1").contains("64 bits"));
    assert!(evaluate("'a' < 1").contains("have no order"));
    assert!(evaluate("2 ** 5000").contains("64 bits"));
}

/// Expressions over `a`, `b`, `c` as text.
fn arbitrary_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("a".to_owned()),
        Just("b".to_owned()),
        Just("c".to_owned()),
        (0..20i64).prop_map(|number| number.to_string()),
        Just("2.5".to_owned()),
    ];
    leaf.prop_recursive(4, 32, 3, |inner| {
        let operators = ["+", "-", "*", "/", "//", "%", "<", "<=", "==", "!=", "and", "or"];
        prop_oneof![
            (inner.clone(), proptest::sample::select(operators.to_vec()), inner.clone())
                .prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} < {b} <= {c})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} if {b} else {c})")),
            inner.clone().prop_map(|a| format!("(not {a})")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("max(ceil_div({a}, 3), min({b}, -{a}))")),
        ]
    })
}

proptest! {
    /// Where the fast program answers, it answers as the exact evaluation.
    #[test]
    fn fast_programs_are_exact(text in arbitrary_text(), a in -40..40i64, b in 0..5i64, c in -3..3i64) {
        let expression = Expression::parse(&text).unwrap();
        let lookup = |name: &str| Some(Value::Int(match name { "a" => a, "b" => b, _ => c }));
        let numbers = [a as f64, b as f64, c as f64];
        let slots: Vec<u32> = expression.names().iter().map(|name| u32::from(name.as_bytes()[0] - b'a')).collect();
        let program = FastProgram::compile(&expression, &slots).unwrap();
        if let Some(fast) = program.run(&numbers, &mut Vec::new()) {
            let exact = expression.evaluate(&lookup).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert!((exact.as_f64().unwrap() - fast).abs() < 1e-9, "{} is {}, not {}", text, exact, fast);
        }
    }
}
use fast::FastProgram;

#[test]
fn long_chains_are_refused_and_long_lists_are_not() {
    for (start, part) in [
        ("x", "+1"),
        ("x", "*1"),
        ("x", " and x"),
        ("x", " or x"),
        ("x", "[0]"),
        ("x", "<1"),
        ("x", "**2"),
        ("x", " if x else 1"),
        ("", "not "),
        ("", "-"),
        ("", "("),
        ("", "["),
        ("", "abs("),
        ("", "x if x else "),
        ("x", " in x"),
        ("(x", ") + (x"),
        ("x", "&x"),
        ("x", " << 1"),
    ] {
        let error = Expression::parse(&format!("{start}{}1", part.repeat(100_000))).unwrap_err().to_string();
        assert!(error.len() < 2000, "{part}: {} bytes", error.len());
    }
    let list = Expression::parse(&format!("len([{}])", "1 + 1, (x), ".repeat(10_000))).unwrap();
    let lookup = |_: &str| Some(Value::Int(1));
    assert_eq!(list.evaluate(&lookup), Ok(Value::Int(20_000)));
    // The longest chain that is taken, and what is made of it for enumeration, need little of a thread's stack.
    let longest = format!("x{}", " + 1".repeat(1000));
    let small = std::thread::Builder::new().stack_size(1 << 20);
    let evaluated = small.spawn(move || Expression::parse(&longest).unwrap().evaluate(&|_: &str| Some(Value::Int(1))));
    assert_eq!(evaluated.unwrap().join().unwrap(), Ok(Value::Int(1001)));
}
