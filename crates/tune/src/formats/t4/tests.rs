use super::*;

/// Two results as the benchmark hub has them, with its spelling.
const FILE: &str = r#"{
  "metadata": {"timeunit": "miliseconds"},
  "results": [
    {"timestamp": "2023-12-22 09:53:48.691683+00:00",
     "configuration": {"block_size_x": 16, "use_padding": false, "layout": "row"},
     "times": {"compilation": 892.914007185027, "framework": 81.5, "search_algorithm": 0, "validation": 0,
               "runtimes": [5.25, 5.125, 5.0]},
     "invalidity": "correct", "correctness": 1,
     "measurements": [{"name": "time", "value": 5.125, "unit": ""}, {"name": "GFLOP/s", "value": 8.5, "unit": ""}],
     "objectives": ["time"]},
    {"configuration": {"block_size_x": 32, "use_padding": true, "layout": "row"},
     "times": {"compilation": 3436.5, "framework": 1.75, "search_algorithm": 0, "validation": 0},
     "invalidity": "runtime", "correctness": 0,
     "measurements": [{"name": "time", "value": "RuntimeFailedConfig", "unit": ""}], "objectives": ["time"]}],
  "schema_version": "1.0.0"}"#;

/// What the schema demands of files, in the part of JSON Schema that [`complaints`] knows.
fn schema() -> Json {
    json!({
        "type": "object",
        "properties": {
            "schema_version": {"type": "string"},
            "results": {"type": "array", "items": {
                "type": "object",
                "required": ["configuration", "times", "invalidity", "correctness"],
                "properties": {
                    "timestamp": {"type": "string"},
                    "configuration": {"type": "object"},
                    "objectives": {"type": "array", "items": {"type": "string"}},
                    "times": {"type": "object", "properties": {
                        "compilation_time": {"type": "number"}, "runtimes": {"type": "array"},
                        "framework": {"type": "number"}, "search_algorithm": {"type": "number"},
                        "validation": {"type": "number"}
                    }},
                    "invalidity": {
                        "enum": ["timeout", "compile", "runtime", "correctness", "constraints", "correct"]
                    },
                    "correctness": {"enum": [0, 1]},
                    "measurements": {"type": "array", "items": {"type": "object", "properties": {
                        "name": {"type": "string"}, "unit": {"type": "string"}
                    }}}
                }
            }}
        }
    })
}

fn complaints(schema: &Json, value: &Json, at: &str, found: &mut Vec<String>) {
    let is_type = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        _ => value.is_number(),
    };
    if schema["type"].as_str().is_some_and(|name| !is_type(name)) {
        found.push(format!("{at} is no {}", schema["type"]));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        found.push(format!("{at} is {value}"));
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        if value.get(name).is_none() {
            found.push(format!("{at} has no {name}"));
        }
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        value.get(name).into_iter().for_each(|value| complaints(schema, value, &format!("{at}.{name}"), found));
    }
    for item in value.as_array().filter(|_| schema["items"].is_object()).into_iter().flatten() {
        complaints(&schema["items"], item, at, found);
    }
}

fn complaints_about(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    complaints(&schema(), &serde_json::from_str(text).unwrap(), "file", &mut found);
    found
}

#[test]
fn files_of_the_hub_are_read() {
    let file = T4::read(FILE).unwrap();
    let [first, second] = &file.results[..] else { panic!() };
    assert_eq!(first.configuration[1], ("use_padding".to_owned(), Value::Bool(false)));
    assert_eq!(first.times.compilation, Some(892.914007185027));
    assert_eq!(file.outcome(first), Outcome::Score(5.125e-3));
    assert_eq!(file.samples_seconds(first), [5.25e-3, 5.125e-3, 5.0e-3]);
    assert_eq!(file.outcome(second), Outcome::Failed(Failure::new(FailureKind::Runtime, "RuntimeFailedConfig")));
    assert!(second.times.runtimes.is_empty());
}

#[test]
fn what_is_written_follows_the_schema_and_is_read_again() {
    let file = T4::read(FILE).unwrap();
    let text = file.write();
    assert_eq!(complaints_about(&text), Vec::<String>::new());
    assert!(text.contains("\"compilation_time\": 892.914007185027"));
    assert_eq!(T4::read(&text).unwrap(), file);
    assert_eq!(T4::read(&text).unwrap().write(), text);
    for (_, kind) in FailureKind::NAMES {
        let result = T4Result { failure: Some(*kind), ..file.results[1].clone() };
        let text = T4 { results: vec![result, T4Result::default()], ..T4::default() }.write();
        assert_eq!(complaints_about(&text), Vec::<String>::new(), "{kind}");
        assert!(T4::read(&text).is_ok());
    }
}

#[test]
fn both_names_of_the_time_of_compilation_are_known() {
    let stated = FILE.replace("\"compilation\"", "\"compilation_time\"");
    assert_eq!(T4::read(&stated).unwrap(), T4::read(FILE).unwrap());
}

#[test]
fn times_have_the_unit_that_the_file_says() {
    let score = |file: &str| {
        let file = T4::read(file).unwrap();
        file.outcome(&file.results[0])
    };
    assert_eq!(score(&FILE.replace("miliseconds", "microseconds")), Outcome::Score(5.125e-6));
    assert_eq!(score(&FILE.replace("\"metadata\": {\"timeunit\": \"miliseconds\"},", "")), Outcome::Score(5.125e-3));
    assert_eq!(score(&FILE.replacen("5.125, \"unit\": \"\"", "5.125, \"unit\": \"s\"", 1)), Outcome::Score(5.125));
    let by_flops = FILE.replace("\"objectives\": [\"time\"]", "\"objectives\": [\"GFLOP/s\"]");
    assert_eq!(score(&by_flops), Outcome::Score(8.5));
    let unmeasured = FILE.replacen("\"name\": \"time\"", "\"name\": \"t\"", 1);
    assert_eq!(score(&unmeasured), Outcome::Score(5.125e-3), "the median of the runs");
    let missing = FILE.replace("\"objectives\": [\"time\"]", "\"objectives\": [\"energy\"]");
    assert!(matches!(score(&missing), Outcome::Failed(failure) if failure.message.contains("\"energy\"")));
}

#[test]
fn files_that_the_schema_forbids_are_refused() {
    for (from, to, message) in [
        ("\"invalidity\": \"correct\"", "\"invalidity\": \"fine\"", "results[0]: invalidity is \"fine\""),
        ("\"invalidity\": \"correct\"", "\"invalidity\": \"skipped\"", "invalidity is \"skipped\""),
        ("\"invalidity\": \"correct\",", "", "invalidity is missing; expected text"),
        ("\"correctness\": 1,", "", "no correctness"),
        ("\"correctness\": 1", "\"correctness\": true", "correctness is true; expected a number"),
        (
            "{\"block_size_x\": 16, \"use_padding\": false, \"layout\": \"row\"}",
            "[16]",
            "configuration is [16]; expected an object",
        ),
        ("\"block_size_x\": 16", "\"block_size_x\": null", "configuration: null"),
        ("\"block_size_x\": 16", "\"block_size_x\": 1, \"block_size_x\": 2", "is there twice"),
        ("[5.25, 5.125, 5.0]", "5.25", "times.runtimes is 5.25; expected a list"),
        ("[5.25, 5.125, 5.0]", "[\"x\"]", "times.runtimes is \"x\"; expected a number"),
        ("892.914007185027", "\"long\"", "times.compilation is \"long\"; expected a number"),
        ("\"objectives\": [\"time\"]}", "\"objectives\": \"time\"}", "objectives is \"time\"; expected a list"),
        ("\"value\": 5.125", "\"value\": null", "value is null; expected a number, text or a list"),
        ("\"timestamp\": \"2023", "\"timestamp\": 7, \"x\": \"2023", "timestamp is 7; expected text"),
        ("miliseconds", "fortnights", "metadata.timeunit is \"fortnights\""),
        ("\"1.0.0\"", "\"1.0\"", "schema_version is \"1.0\"; expected three numbers"),
        ("\"1.0.0\"", "\"2.0.0\"", "schema_version is 2.0.0; this version knows 1.x"),
        ("\"results\":", "\"result\":", "results is missing; expected a list"),
    ] {
        let changed = FILE.replacen(from, to, 1);
        assert_ne!(changed, FILE, "{from}");
        let error = T4::read(&changed).unwrap_err().to_string();
        assert!(error.contains("T4 file: ") && error.contains(message), "{error}\nshould have {message}");
    }
    assert!(T4::read("[]").unwrap_err().to_string().contains("the file is []; expected an object"));
    assert!(T4::read("{\"results\": [").is_err());
}
