use super::*;
use crate::{Space, Value};
use proptest::prelude::*;
use std::io::Write;

/// What stands in the file after a good line.
fn read_with(name: &str, lines: &[String]) -> Records {
    let folder = Folder::new(name);
    folder.store().append(&kernel(), &record(&a100(), 1, 16, 1.0)).unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(folder.file()).unwrap();
    lines.iter().for_each(|line| writeln!(file, "{line}").unwrap());
    folder.store().read(&kernel()).unwrap()
}

fn good_line() -> String {
    record(&a100(), 2, 32, 1.0).to_line(&kernel()).unwrap()
}

#[test]
fn lines_that_are_no_results_are_named_and_left_out() {
    let good = good_line();
    let change = |from: &str, to: &str| {
        let changed = good.replace(from, to);
        assert_ne!(changed, good, "{from}");
        changed
    };
    let nested = |n: usize| format!("\"bx\":{}1{}", "[".repeat(n), "]".repeat(n));
    let bad = [
        (change("\"score\":1.0", "\"score\":1e999"), "out of range"),
        (change("\"score\":1.0", "\"score\":NaN"), "expected value"),
        (change("\"score\":1.0", "\"score\":\"NaN\""), "score is no number"),
        (change("\"score\":1.0", "\"score\":1.0,\"failure\":[\"compile\",\"x\"]"), "a score or a failure"),
        (change("\"score\":1.0", "\"failure\":[\"rm -rf\",\"x\"]"), "no kind of failure"),
        (change("\"score\":1.0", "\"failure\":7"), "expected its kind"),
        (change("\"score\":1.0", "\"score\":1.0,\"score\":0.1"), "\"score\" is there twice"),
        (change("\"bx\":32", "\"bx\":32,\"bx\":64"), "\"bx\" is there twice"),
        (change("\"bx\":32", "\"bx\":null"), "config: null"),
        (change("\"bx\":32", "\"bx\":{\"a\":1}"), "config: {"),
        (change("\"bx\":32", "\"x;system(1)\":1"), "is no parameter"),
        (change("\"bx\":32", &nested(7)), "more than 8 times"),
        (change("\"bx\":32", &nested(90)), "more than 8 times"),
        ("[".repeat(1_000_000), "more than 8 times"),
        ("[".repeat((1 << 20) + 1), "expected at most 1048576"),
        ("\"text\"".into(), "expected an object"),
        ("7".into(), "expected an object"),
        (change("\"samples\":[1.0", "\"samples\":[\"x\""), "samples: "),
        (change("\"registers\":32", "\"registers\":-1"), "resources: "),
        (change("\"registers\":32", "\"registers\":1e308"), "resources: "),
        (change("\"timestamp\":1790000000", "\"timestamp\":-1"), "timestamp: "),
        (change("\"timestamp\":1790000000", "\"timestamp\":1,\"chosen\":\"yes\""), "chosen: "),
        (change("\"timestamp\":1790000000", "\"timestamp\":1,\"details\":{\"versions\":[]}"), "details: "),
        (change("\"cuda\"", "7"), "device: "),
        (change("\"A100\"", "\"A100\\u001b[2J\""), "printable"),
        (change("\"A100\"", &format!("\"{}\"", "A".repeat(300))), "printable"),
        (change("\"compute_capability\":80", "\"compute_capability\":1e30"), "device: "),
        (change("\"n\":2", "\"n\":null"), "problem: null"),
        (good.replace(",\"config\":", ",\"konfig\":"), "config: expected an object"),
        ("{\"rtcg_tuning\":1,\"kernel\":7}".into(), "header: "),
        ("{\"failures\":{\"compile\":1}}".into(), "no device"),
        ("{\"failures\":{\"compile\":-1},\"device\":{}}".into(), "device: "),
    ];
    let lines: Vec<String> = bad.iter().map(|(line, _)| line.clone()).chain([good.clone()]).collect();
    let records = read_with("hostile", &lines);
    assert_eq!((records.records.len(), records.damaged.len()), (2, bad.len()), "{:#?}", records.damaged);
    for (place, ((_, expected), damage)) in bad.iter().zip(&records.damaged).enumerate() {
        assert!(damage.contains(&format!("line {}: ", place + 3)), "{damage}");
        assert!(damage.contains(expected), "{damage}\nshould have {expected:?}");
        assert!(damage.len() < 600 && !damage.contains('\x1b'), "{damage}");
    }
}

#[test]
fn large_numbers_are_numbers() {
    let good = good_line();
    let lines = [
        good.replace("\"bx\":32", "\"bx\":1e308"),
        good.replace("\"bx\":32", "\"bx\":99999999999999999999999"),
        good.replace("\"n\":2", "\"n\":-1e308"),
        good.replace("\"score\":1.0", "\"score\":-1e308"),
        good.replace("\"timestamp\":1790000000", "\"chosen\":true,\"timestamp\":18446744073709551615"),
    ];
    let records = read_with("large", &lines);
    assert_eq!((records.records.len(), &records.damaged), (6, &vec![]));
    for n in [0, 1, i64::MAX, i64::MIN] {
        let found = records.look_up(&a100(), &problem(n), &|config| config.get("bx") == Some(&32.into()));
        assert_eq!(found.unwrap().config, config(32, 1));
    }
}

#[test]
fn only_declared_values_get_past_the_space() {
    let good = good_line();
    let faster =
        |bx: &str| good.replace("\"bx\":32", &format!("\"bx\":{bx}")).replace("\"score\":1.0", "\"score\":1e-9");
    let lines: Vec<String> = ["\"32; } __global__ void evil() {\"", "\"32\"", "32.0", "33", "true", "[32]"]
        .iter()
        .map(|bx| faster(bx))
        .collect();
    let records = read_with("undeclared", &[&lines[..], &[good]].concat());
    assert_eq!(records.records.len(), 8);
    let space = Space::new().parameter("bx", [16, 32]).unwrap().parameter("by", [1, 2]).unwrap();
    let accept = |config: &Config| space.check(config).is_ok();
    assert_eq!(records.look_up(&a100(), &problem(2), &accept).unwrap().config, config(32, 1));
    assert_eq!(records.incumbents(&a100(), &problem(2), 10, &accept), [config(32, 1)]);
    let rows = space.enumerate().unwrap();
    let in_table = |config: &Config| rows.find_config(config).is_some();
    let explanation = records.explain(&a100(), &problem(2), &in_table, &config(16, 1));
    assert_eq!((explanation.config.clone(), explanation.n_refused), (config(32, 1), 6));
    let text = explanation.to_string();
    assert!(text.contains("6 nearer results are left out") && !text.contains("evil"), "{text}");
}

#[test]
fn a_file_of_nothing_but_damage_says_so_in_bounded_space() {
    let lines: Vec<String> = (0..100_000).map(|n| format!("{{\"x\":{n}")).collect();
    let records = read_with("rubbish", &lines);
    assert_eq!((records.records.len(), records.damaged.len()), (1, 101));
    assert_eq!(records.damaged[100], "more than that");
}

#[test]
fn files_without_end_or_sense_are_refused() {
    let folder = Folder::new("odd");
    std::fs::create_dir_all(folder.file()).unwrap();
    assert!(folder.store().read(&kernel()).unwrap_err().to_string().contains("is no file"));
    assert_eq!(folder.store().kernels(), []);
    std::fs::remove_dir(folder.file()).unwrap();
    let file = std::fs::File::create(folder.file()).unwrap();
    file.set_len(file::MAX_FILE_BYTES + 1).unwrap();
    assert!(folder.store().read(&kernel()).unwrap_err().to_string().contains("more than 268435456 bytes"));
    file.set_len(file::MAX_FILE_BYTES).unwrap();
    let error = folder.store().append(&kernel(), &record(&a100(), 1, 16, 1.0)).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Full);
    assert!(error.to_string().contains("prune it"), "{error}");
}

#[test]
fn imports_and_exported_files_are_as_careful() {
    let folder = Folder::new("hostile-import");
    let store = folder.store();
    let header = serde_json::json!(file::Header::new(&kernel(), None)).to_string();
    let export = |header: &str, records: &str| {
        format!("{{\"rtcg_tuning_export\":1,\"kernels\":[{{\"header\":{header},\"records\":{records}}}]}}")
    };
    let evil = header.replace(&kernel().hash, "../../../../tmp/x");
    let good = good_line();
    let (added, refused) = store.import(&export(&evil, &format!("[{good}]"))).unwrap();
    assert!(added == 0 && refused[0].contains("32 hexadecimal digits"), "{refused:?}");
    let (added, refused) = store.import(&export(&header, &format!("[{good},7,{{\"failures\":7}}]"))).unwrap();
    assert_eq!((added, refused.len()), (1, 2), "{refused:?}");
    assert!(refused[0].contains("conv: result 2: expected an object"), "{refused:?}");
    assert_eq!(store.import(&export(&header.replace(":1,", ":9,"), &format!("[{good}]"))).unwrap().0, 0);
    assert_eq!(store.import(&export("7", "7")).unwrap().0, 0);
    for (text, message) in [
        ("{}", "no export of results"),
        ("[]", "no export of results"),
        ("{\"rtcg", "is no JSON"),
        ("{\"rtcg_tuning_export\":2,\"kernels\":[]}", "has format 2"),
        ("{\"rtcg_tuning_export\":1,\"kernels\":7}", "no list of kernels"),
    ] {
        let error = store.import(text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        let path = folder.0.join("wisdom.json");
        std::fs::write(&path, text).unwrap();
        let records = Store::new(&folder.0, vec![path]).read(&kernel()).unwrap();
        assert!(records.records.len() == 1 && records.damaged[0].contains(message), "{:?}", records.damaged);
    }
}

proptest! {
    #[test]
    fn no_line_panics(line in proptest::collection::vec(any::<u8>(), 0..200), place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let _ = record::parse_line(&line);
        let parameters = kernel().parameters;
        let mut changed = good_line().into_bytes();
        let place = place.index(changed.len());
        changed[place] = byte;
        if let Ok(record) = record::RecordReader::new(&parameters).read_line(&changed) {
            let records = Records { records: vec![record], ..Records::default() };
            let _ = records.look_up(&a100(), &problem(1), &|_| true).map(|found| found.to_string());
            let _ = records.best_of_each(1);
        }
    }

    #[test]
    fn strings_of_others_never_pass_for_declared_values(text in any::<String>()) {
        let space = Space::new().parameter("bx", [16, 32]).unwrap().parameter("by", [1]).unwrap();
        let config = Config::new(Arc::from(["bx".to_owned(), "by".to_owned()]), vec![Value::Str(text), 1.into()]);
        prop_assert!(space.check(&config).is_err());
    }
}
