use super::*;
use crate::Value;
use proptest::prelude::*;

#[test]
fn kernels_are_known_by_all_that_decides_about_them() {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let key = |name, source, options: &[&str], parameters: &[&str]| {
        KernelKey::new(name, source, &names(options), &names(parameters))
    };
    let plain = key("k", "int f() { return 2; }", &["-O3"], &["b", "a"]);
    assert_eq!(plain, key("k", "// twice\nint f() {\n  return /* what? */ 2; }\n", &["-O3"], &["a", "b"]));
    assert_eq!((plain.hash.len(), &plain.parameters[..]), (32, &names(&["a", "b"])[..]));
    for other in [
        key("l", "int f() { return 2; }", &["-O3"], &["a", "b"]),
        key("k", "int f() { return 3; }", &["-O3"], &["a", "b"]),
        key("k", "int f() { return 2; }", &[], &["a", "b"]),
        key("k", "int f() { return 2; }", &["-O3", "a"], &["b"]),
        key("k", "int f() { return 2; }", &["-O3"], &["a", "b", "c"]),
    ] {
        assert_ne!(plain.hash, other.hash);
    }
}

#[test]
fn names_of_kernels_cannot_lead_out_of_the_folder() {
    let file_name = |name: &str| KernelKey { name: name.into(), hash: "/x".into(), parameters: vec![] }.file_name();
    assert_eq!(file_name("../../etc/passwd"), "______etc_passwd-_x.jsonl");
    assert_eq!(file_name("conv<float, 4>"), "conv_float__4_-_x.jsonl");
    assert!(file_name(&"k".repeat(10_000)).len() < 120);
    let parts = |hash: &str| KernelKey::from_parts("k".into(), hash.into(), &[]);
    assert!(parts(&kernel().hash).is_ok());
    for hash in [
        "",
        "../../../../../../../../../../etc",
        "ABCDEF0123456789abcdef0123456789",
        "\u{e9}123456789abcdef0123456789abcde",
    ] {
        assert!(parts(hash).unwrap_err().contains("expected 32 hexadecimal digits"), "{hash}");
    }
}

#[test]
fn devices_are_known_by_their_hardware() {
    let with = |change: &dyn Fn(&mut DeviceKey)| {
        let mut key = DeviceKey { memory_clock_khz: Some(1_215_000), driver: Some("13.0".into()), ..a100() };
        change(&mut key);
        key
    };
    let known = with(&|_| {});
    assert!(known.is_same_device(&a100()), "an unknown clock is any");
    assert!(known.is_same_device(&with(&|key| key.driver = Some("13.1".into()))));
    assert!(!known.is_same_toolchain(&with(&|key| key.driver = Some("13.1".into()))));
    assert!(known.is_same_toolchain(&with(&|key| key.compiler = Some("NVRTC 13.0".into()))));
    assert!(!known.is_same_device(&with(&|key| key.memory_clock_khz = Some(1_593_000))));
    assert!(!known.is_same_device(&with(&|key| key.multiprocessors = 98)));
    assert!(!known.is_same_device(&with(&|key| key.backend = "virtual".into())));
}

#[test]
fn buckets_are_known_by_one_of_their_numbers() {
    let apply = |bucket: &str, number: i64| match bucket.parse::<Bucket>().unwrap().apply(&number.into()) {
        Value::Int(number) => number,
        other => panic!("{other}"),
    };
    for (bucket, number, expected) in [
        ("exact", -7, -7),
        ("log2", 1000, 512),
        ("log2", 512, 512),
        ("log2", 0, 0),
        ("log2", -5, -4),
        ("log2", i64::MIN, -i64::MAX),
        ("next_pow2", 1000, 1024),
        ("next_pow2", 1024, 1024),
        ("next_pow2", i64::MAX, i64::MAX),
        ("multiple of 32", 33, 64),
        ("multiple of 32", 0, 0),
        ("multiple of 32", i64::MAX, i64::MAX),
    ] {
        assert_eq!(apply(bucket, number), expected, "{bucket} of {number}");
    }
    let shape = Value::Tuple(vec![100.into(), "C".into(), 3.0.into(), 0.0.into()]);
    let bucketed = Value::Tuple(vec![64.into(), "C".into(), 2.0.into(), 0.0.into()]);
    assert_eq!(Bucket::Log2.apply(&shape), bucketed);
    let problem = problem(1000).bucketed(&[("n".into(), Bucket::NextPow2), ("dtype".into(), Bucket::Log2)]);
    assert_eq!(problem.to_string(), "n=1024, dtype='float32'");
    for text in ["", "pow2", "multiple of 0", "multiple of -1", "multiple of x"] {
        assert!(text.parse::<Bucket>().unwrap_err().contains("expected exact, log2"), "{text}");
    }
}

#[test]
fn problems_are_near_by_ratio_and_only_where_the_rest_is_equal() {
    let of = |n: Value, dtype: &str| Problem(vec![("dtype".into(), dtype.into()), ("n".into(), n)]);
    let base = of(1023.into(), "float32");
    assert_eq!(base.distance(&of(4095.into(), "float32")), Some(2.0));
    assert_eq!(base.distance(&problem(1023)), Some(0.0), "names may come in another order");
    assert!(base.is_same(&problem(1023)) && !base.is_same(&of(1023.0.into(), "float32")));
    assert_eq!(base.distance(&of(1023.into(), "float64")), None);
    assert_eq!(base.distance(&of("1023".into(), "float32")), None);
    assert_eq!(base.distance(&Problem(vec![("n".into(), 1023.into())])), None);
    assert_eq!(of(5.into(), "f").distance(&of((-5).into(), "f")), Some(2.0 * 6f64.log2()));
    let shape = |m: i64, n: i64| of(Value::Tuple(vec![m.into(), n.into()]), "f");
    assert_eq!(shape(1, 3).distance(&shape(3, 1)), Some(2.0));
    assert_eq!(shape(1, 3).distance(&of(Value::Tuple(vec![1.into()]), "f")), None);
    assert_eq!(of(f64::MAX.into(), "f").distance(&of(0.into(), "f")), Some(1024.0));
}

proptest! {
    #[test]
    fn buckets_hold_themselves_and_keep_the_order(a in any::<i64>(), b in any::<i64>(), step in 1u32..1000) {
        for bucket in [Bucket::Exact, Bucket::Log2, Bucket::NextPow2, Bucket::MultipleOf(step)] {
            let apply = |number: i64| bucket.apply(&number.into()).as_f64().unwrap();
            let once = bucket.apply(&a.into());
            if once != Value::Int(i64::MAX) && once != Value::Int(-i64::MAX) {
                prop_assert_eq!(bucket.apply(&once), once);
            }
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(apply(low) <= apply(high), "{:?} of {} and {}", bucket, low, high);
        }
    }

    #[test]
    fn distances_are_those_of_a_metric(a in any::<i32>(), b in any::<i32>(), c in any::<i32>()) {
        let distance = |a: i32, b: i32| problem(a.into()).distance(&problem(b.into())).unwrap();
        prop_assert_eq!(distance(a, b), distance(b, a));
        prop_assert_eq!(distance(a, b) == 0.0, a == b);
        prop_assert!(distance(a, c) <= distance(a, b) + distance(b, c) + 1e-9);
    }
}
