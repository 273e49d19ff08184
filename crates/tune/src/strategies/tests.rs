use super::*;
use crate::{Configurations, Failure, FailureKind, Outcome, Search, Space};
use std::collections::HashSet;

fn space() -> Configurations {
    let space = Space::new().parameter("x", [1, 2, 4, 8, 16]).unwrap().parameter("y", 0..6).unwrap();
    space.parameter("mode", ["a", "b"]).unwrap().require("x * y < 40").unwrap().enumerate().unwrap()
}

fn outcome(space: &Configurations, row: u32) -> Outcome {
    let cells = space.row(row);
    match cells[0] == 3 {
        true => Outcome::Failed(Failure { kind: FailureKind::Compile, message: "no".into() }),
        false => Outcome::Score(1.0 + f64::from(cells[0]) + (f64::from(cells[1]) - 3.0).powi(2)),
    }
}

/// Asks until nothing is left; the rows in the order of asking.
fn run(name: &str, seed: u64, batch: usize) -> Vec<u32> {
    let mut search = Search::new(space(), name, seed).unwrap();
    let mut asked = Vec::new();
    loop {
        let rows = search.ask(batch);
        if rows.is_empty() {
            return asked;
        }
        assert!(rows.len() <= batch);
        for row in rows {
            asked.push(row);
            let outcome = outcome(search.space(), row);
            search.tell(row, outcome);
        }
    }
}

#[test]
fn every_strategy_asks_each_row_once() {
    for name in NAMES {
        for batch in [1, 3, 7] {
            let asked = run(name, 5, batch);
            let distinct: HashSet<u32> = asked.iter().copied().collect();
            assert_eq!((asked.len(), distinct.len()), (space().len(), space().len()), "{name}, {batch} at a time");
        }
    }
}

#[test]
fn a_seed_decides_the_order() {
    for name in NAMES {
        assert_eq!(run(name, 1, 4), run(name, 1, 4), "{name}");
        assert!(*name == "exhaustive" || run(name, 1, 4) != run(name, 2, 4), "{name}");
    }
}

#[test]
fn pending_rows_are_not_asked_again() {
    for name in NAMES {
        let mut search = Search::new(space(), name, 3).unwrap();
        let mut asked = HashSet::new();
        loop {
            let rows = search.ask(5);
            if rows.is_empty() {
                break;
            }
            assert!(rows.iter().all(|row| asked.insert(*row)), "{name}");
        }
        assert_eq!(asked.len(), space().len(), "{name}");
    }
}

#[test]
fn a_space_of_failures_or_of_one_row_ends() {
    for name in NAMES {
        let one = Space::new().parameter("x", [7]).unwrap().enumerate().unwrap();
        let mut search = Search::new(one, name, 0).unwrap();
        assert_eq!(search.ask(4), [0], "{name}");
        search.tell(0, Outcome::Score(1.0));
        assert!(search.ask(4).is_empty(), "{name}");
        let mut search = Search::new(space(), name, 0).unwrap();
        let mut count = 0;
        while let [row, ..] = search.ask(1)[..] {
            search.tell(row, Outcome::Failed(Failure { kind: FailureKind::Runtime, message: String::new() }));
            count += 1;
        }
        assert_eq!((count, search.history().best()), (space().len(), None), "{name}");
    }
}

#[test]
fn incumbents_come_first() {
    let mut search = Search::new(space(), "auto", 0).unwrap();
    search.start_with(&[9, 4, 9, 1_000_000]);
    assert_eq!(search.ask(2), [9, 4]);
    assert!(!search.ask(3).contains(&9));
}
