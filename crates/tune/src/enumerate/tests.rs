use super::*;
use proptest::prelude::*;

/// Every configuration of the product that passes `Space::check`.
fn brute_force(space: &Space) -> Vec<String> {
    let sizes: Vec<usize> = space.parameters.iter().map(|parameter| parameter.values.len()).collect();
    let names: Arc<[String]> = space.names().map(str::to_owned).collect();
    let total: usize = sizes.iter().product();
    let config = |mut rank: usize| {
        let mut values = Vec::new();
        for (parameter, &size) in space.parameters.iter().zip(&sizes).rev() {
            values.push(parameter.values[rank % size].clone());
            rank /= size;
        }
        values.reverse();
        Config::new(Arc::clone(&names), values)
    };
    (0..total).map(config).filter(|config| space.check(config).is_ok()).map(|config| config.to_string()).collect()
}

fn enumerated(space: &Space) -> Vec<String> {
    match space.enumerate() {
        Ok(table) => (0..table.len() as u32).map(|row| table.config(row).to_string()).collect(),
        Err(error) => {
            assert!(error.to_string().contains("no configuration fulfils"), "{error}");
            Vec::new()
        }
    }
}

fn arbitrary_space() -> impl Strategy<Value = Space> {
    let values = proptest::collection::hash_set(0..9i64, 1..5);
    let texts = [
        "a * b <= 12",
        "a % 2 == b % 2",
        "c in (1, 2, 3, 5) or d",
        "a + c < b + d + 3",
        "d == 0 or 24 % (d * 2) == 0",
        "not (a == 1 and c == 2)",
        "1 <= b <= 6",
        "max(a, b) - min(c, d) < 5",
    ];
    let constraints = proptest::sample::subsequence(texts.to_vec(), 0..5);
    (proptest::collection::vec(values, 4), constraints, any::<bool>()).prop_map(|(lists, constraints, conditional)| {
        let mut space = Space::new();
        for (name, list) in ["a", "b", "c", "d"].iter().zip(&lists) {
            let list: Vec<i64> = list.iter().copied().collect();
            space = match conditional && *name == "d" {
                true => space.parameter_when(name, list, "a > 2").unwrap(),
                false => space.parameter(name, list).unwrap(),
            };
        }
        constraints.into_iter().fold(space, |space, text| space.require(text).unwrap())
    })
}

proptest! {
    #[test]
    fn enumeration_is_the_filtered_product(space in arbitrary_space()) {
        prop_assert_eq!(enumerated(&space), brute_force(&space));
    }
}

#[test]
fn values_of_all_types_and_functions_take_part() {
    let space = Space::new()
        .parameter("mode", ["fast", "slow"])
        .unwrap()
        .parameter("scale", [0.5, 1.0, 2.0])
        .unwrap()
        .parameter("shape", [Value::Tuple(vec![8.into(), 4.into()]), Value::Tuple(vec![16.into(), 2.into()])])
        .unwrap()
        .require("mode == 'fast' or shape[0] == 8")
        .unwrap()
        .require_function("odd", Arc::new(|config| Ok(config.get("scale") != Some(&Value::Float(1.0)))));
    assert_eq!(enumerated(&space), brute_force(&space));
    assert_eq!(space.enumerate().unwrap().len(), 6);
}

#[test]
fn mistakes_are_named() {
    let message = |space: Result<Space, SpaceError>| {
        space.and_then(|space| space.enumerate().map(|table| table.len())).unwrap_err().to_string()
    };
    let two = || Space::new().parameter("bx", [1, 2, 4])?.parameter("by", [1, 2]);
    assert_eq!(message(two().and_then(|s| s.parameter("bx", [1]))), "parameter \"bx\" is there twice");
    assert!(message(two().and_then(|s| s.parameter("z", Vec::<i64>::new()))).contains("\"z\" has no values"));
    assert!(message(two().and_then(|s| s.parameter("z", [1, 1]))).contains("has the value 1 twice"));
    assert!(message(two().and_then(|s| s.parameter("z", [f64::NAN]))).contains("expected finite numbers"));
    assert!(message(two().and_then(|s| s.parameter("b x", [1]))).contains("expected an identifier"));
    assert!(
        message(two().and_then(|s| s.require("bz < 3"))).contains("names bz, which is no parameter; expected bx, by")
    );
    assert!(message(two().and_then(|s| s.require("bx <"))).contains("expected a value"));
    assert!(message(two().and_then(|s| s.default_value("bx", 3))).contains("\"bx\" is 3; expected one of 1, 2, 4"));
    assert!(message(two().and_then(|s| s.require("bx % (by - 1) == 0"))).contains("divided by zero"));
    assert_eq!(two().and_then(|s| s.require("by > 1")?.require("bx % (by - 1) == 0")?.enumerate()).unwrap().len(), 3);
}

#[test]
fn contradictions_name_the_constraints_that_make_them() {
    let space = Space::new()
        .parameter("a", [1, 2, 3])
        .unwrap()
        .parameter("b", [1, 2, 3])
        .unwrap()
        .require("a + b > 0")
        .unwrap()
        .require("a < b")
        .unwrap()
        .require("a != 7")
        .unwrap()
        .require("b < a")
        .unwrap();
    assert_eq!(
        space.enumerate().unwrap_err().to_string(),
        "no configuration fulfils these constraints together: \"a < b\", \"b < a\""
    );
}

#[test]
fn hostile_configurations_are_refused() {
    let space = Space::new().parameter("bx", [16, 32]).unwrap().parameter("pad", [0, 1]).unwrap();
    let config = |pairs: &[(&str, Value)]| {
        let names: Arc<[String]> = pairs.iter().map(|(name, _)| (*name).to_owned()).collect();
        Config::new(names, pairs.iter().map(|(_, value)| value.clone()).collect())
    };
    let refuse = |pairs: &[(&str, Value)]| space.check(&config(pairs)).unwrap_err().to_string();
    assert!(space.check(&config(&[("pad", 1.into()), ("bx", 32.into())])).is_ok());
    assert!(refuse(&[("bx", "16); evil(".into()), ("pad", 0.into())]).contains("expected one of 16, 32"));
    assert!(refuse(&[("bx", 16.0.into()), ("pad", 0.into())]).contains("\"bx\" is 16.0; expected one of 16, 32"));
    assert!(refuse(&[("bx", 16.into())]).contains("\"pad\" has no value"));
    assert!(refuse(&[("bx", 16.into()), ("pad", 0.into()), ("x", 0.into())]).contains("no parameter \"x\""));
}

#[test]
fn parameters_from_elsewhere_join_a_space_which_wins() {
    let space = Space::new().parameter("PART", [2, 4]).unwrap();
    let space = space.join([("PART", vec![1, 8]), ("TILE", vec![16, 32])]).unwrap();
    assert_eq!(space.names().collect::<Vec<_>>(), ["PART", "TILE"]);
    assert_eq!(space.values("PART").unwrap(), [Value::Int(2), Value::Int(4)]);
    assert_eq!(space.enumerate().unwrap().len(), 4);
    assert!(space.join([("UNROLL", Vec::<i64>::new())]).is_err());
}
