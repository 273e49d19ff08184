//! The codes of problems, and the page that lists them.

use std::collections::BTreeSet;
use std::path::Path;

use rtcg_lang::problem::Code;

#[test]
fn the_page_of_errors_has_each_code_with_its_meaning() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/copperhead-errors.md");
    let page = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
    let rows: BTreeSet<String> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split(" | ").take(2).collect::<Vec<_>>().join(" | "))
        .collect();
    let expected = Code::ALL.iter().map(|code| format!("| `{}` | {}", code.name(), code.meaning())).collect();
    assert_eq!(rows, expected);
}
