//! Random choices are fair: every outcome is possible, all are equally likely, and an outcome
//! discloses nothing about a cell that is not in it.

use std::collections::BTreeMap;
use std::path::Path;

use lookalike::release::{CellFormat, Release};
use lookalike::rng::Key;
use lookalike::table::Table;
use lookalike::{
    Algorithm, Budget, Outcome, Problem, Request, SearchOptions, problem, solve, table,
};

/// A table and its request, ready to be released under any key.
struct Case {
    table: Table,
    request: Request,
}

impl Case {
    fn new(text: &str, toml: &str) -> Case {
        let request = Request::parse(toml).unwrap();
        let source = table::open_text(text.to_string(), Path::new("table")).unwrap();
        let roles = request.roles(source.names()).unwrap();
        let treatments = problem::treatments(source.names(), &roles);
        Case { table: source.read(&treatments).unwrap(), request }
    }

    /// The outcome of a search with this seed, and its problem.
    fn search(&self, algorithm: Algorithm, seed: u64) -> (Problem, Outcome) {
        let request = Request { seed: Some(seed), ..self.request.clone() };
        let names: Vec<String> =
            self.table.columns().iter().map(|column| column.name.clone()).collect();
        let problem = Problem::new(&self.table, &request.roles(&names).unwrap(), &request).unwrap();
        let outcome = solve(
            &problem,
            SearchOptions { steps: Some(20), ..SearchOptions::new(algorithm, seed) },
            &Budget::unlimited(),
        );
        (problem, outcome)
    }

    /// The published value and the note of every row of the release under this key.
    fn rows(&self, (problem, outcome): &(Problem, Outcome), key: Key) -> Vec<(String, String)> {
        let names: Vec<String> =
            self.table.columns().iter().map(|column| column.name.clone()).collect();
        let roles = self.request.roles(&names).unwrap();
        let release = Release::new(
            problem,
            &outcome.recoding,
            &self.table,
            &roles,
            &self.request,
            key,
            CellFormat::Typed,
        )
        .unwrap();
        let table =
            table::in_memory(release.schema(), release.batches(), |batch| release.batch(batch))
                .unwrap();
        let cell = |row: usize, name: &str| {
            let coded = table.coded(name);
            coded.values()[coded.codes().get(row) as usize].clone().unwrap()
        };
        (0..table.rows()).map(|row| (cell(row, "a"), cell(row, "note"))).collect()
    }
}

impl Case {
    /// The notes in the release under this key.
    fn released(&self, found: &(Problem, Outcome), key: Key) -> Vec<String> {
        self.rows(found, key).into_iter().map(|(_, note)| note).collect()
    }
}

/// The distance of counts of outcomes from equal counts, in standard deviations of the chi-squared
/// statistic.
fn unevenness<K>(counts: &BTreeMap<K, u32>, outcomes: u32, draws: u32) -> f64 {
    let expected = f64::from(draws) / f64::from(outcomes);
    let seen: f64 =
        counts.values().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    let never = f64::from(outcomes) - f64::from(u32::try_from(counts.len()).unwrap());
    let freedom = f64::from(outcomes - 1);
    (seen + never * expected - freedom) / (2.0 * freedom).sqrt()
}

fn counted<K: Ord>(outcomes: impl Iterator<Item = K>) -> BTreeMap<K, u32> {
    let mut counts = BTreeMap::new();
    outcomes.for_each(|outcome| *counts.entry(outcome).or_insert(0) += 1);
    counts
}

const HALF: &str = "k = 2\n[limits]\nsuppress = \"60%\"\n[columns]\na = { role = \"quasi\" }\ns = \
    { role = \"sensitive\", l = 2 }\nnote = { role = \"keep\", dependent = true }\n";

/// Indistinguishable rows: half of those with x must be suppressed, those with y stay.
fn half(rows: u32) -> Case {
    let mut text = "a,s,note\n".to_string();
    (0..rows).for_each(|row| text += &format!("1,x,x{row:02}\n"));
    (0..rows / 2).for_each(|row| text += &format!("1,y,y{row:02}\n"));
    Case::new(&text, HALF)
}

#[test]
fn of_equal_rows_any_half_is_suppressed_as_likely_as_any_other() {
    let case = half(12);
    let found = case.search(Algorithm::Mondrian, 1);
    let draws = 924 * 10;
    let kept = |seed: u64| -> Vec<String> {
        let rows = case.released(&found, Key::from_seed(seed));
        rows.into_iter().filter(|note| note.starts_with('x')).collect()
    };
    let counts = counted((0..draws).map(kept));
    assert!(counts.keys().all(|kept| kept.len() == 6));
    let draws = u32::try_from(draws).unwrap();
    assert!(
        counts.len() == 924 && unevenness(&counts, 924, draws).abs() < 5.0,
        "{} of 924 outcomes came",
        counts.len()
    );
    // Without a seed no two runs agree.
    let unseeded = counted((0..30).map(|_| case.released(&found, Key::from_system())));
    assert!(unseeded.len() > 25, "{}", unseeded.len());
}

#[test]
fn of_equally_rare_tuples_any_are_suppressed_as_likely_as_others() {
    let mut text = "a,s,note\n".to_string();
    (0..6).for_each(|row| text += &format!("{row},x,x{row}\n"));
    (0..3).for_each(|row| text += &format!("{row},y,y{row}\n"));
    // No more rows may be suppressed than must be.
    let case = Case::new(&text, &HALF.replace("60%", "34%"));
    let kept = |seed: u64| -> Vec<String> {
        let rows = case.released(&case.search(Algorithm::Mondrian, seed), Key::from_seed(seed));
        let mut kept: Vec<String> = rows.into_iter().filter(|note| note.starts_with('x')).collect();
        kept.sort_unstable();
        kept
    };
    let counts = counted((0..2_000).map(kept));
    assert!(counts.len() == 20 && unevenness(&counts, 20, 2_000).abs() < 5.0, "{counts:?}");
}

#[test]
fn all_ways_to_form_classes_are_equally_likely() {
    let toml = HALF.replace("suppress = \"60%\"", "suppress = \"0%\"");
    // Neighbours have equal sensitive values, which the rule forbids in a class: so the rows are
    // paired in one of two ways.
    let case = Case::new("a,s,note\n1,x,p\n2,x,q\n9,y,r\n10,y,s\n", &toml);
    let classes = |seed: u64| -> Vec<Vec<u32>> {
        let (_, outcome) = case.search(Algorithm::Cluster, seed);
        let class = |class: &[lookalike::problem::partition::Piece]| {
            class.iter().map(|piece| piece.tuple).collect()
        };
        outcome.recoding.classes().iter().map(class).collect()
    };
    let counts = counted((0..2_000).map(classes));
    assert!(counts.len() == 2 && unevenness(&counts, 2, 2_000) < 5.0, "{counts:?}");
}

#[test]
fn no_algorithm_separates_equal_rows_by_their_sensitive_values() {
    // Two of five equal rows must join the one that differs: any two, or their values would
    // disclose the value of the third.
    let toml = HALF.replace("suppress = \"60%\"", "suppress = \"0%\"").replace("k = 2", "k = 3");
    let case = Case::new("a,s,note\n5,c,c\n5,e,e\n5,b,b\n5,d,d\n5,f,f\n9,a,a\n", &toml);
    let mut compared = 0;
    for algorithm in Algorithm::homogeneous().filter(|algorithm| !algorithm.is_global()) {
        let beside = |seed: u64| -> Option<String> {
            let request = Request { seed: Some(seed), steps: Some(20), ..case.request.clone() };
            let case = Case { table: case.table.clone(), request };
            let rows = case.rows(&case.search(algorithm, seed), Key::from_seed(seed));
            let mixed: String = rows
                .iter()
                .filter(|(published, _)| published.starts_with('['))
                .map(|(_, note)| note.as_str())
                .collect();
            Some(mixed).filter(|mixed| mixed.len() == 3)
        };
        let found: Vec<String> = (0..600).filter_map(beside).collect();
        if found.len() == 600 {
            let counts = counted(found.into_iter());
            assert!(
                counts.len() == 10 && unevenness(&counts, 10, 600).abs() < 5.0,
                "{algorithm}: {counts:?}"
            );
            compared += 1;
        }
    }
    assert!(compared >= 3, "{compared} algorithms separate these rows");
}

#[test]
fn whoever_knows_all_but_one_cell_of_a_suppressed_row_learns_nothing_about_it() {
    let toml = HALF
        .replace("note = { role = \"keep\", dependent = true }\n", "note = { role = \"keep\" }\n");
    let (mut right, mut trials) = (0.0_f64, 0.0_f64);
    for trial in 0..60_u32 {
        // One row's note is secret, yes or no; the attacker knows everything else, and how the
        // program works.
        let table = |secret: &str| {
            let mut text = "a,s,note\n".to_string();
            (0..5).for_each(|row| {
                text += &format!(
                    "1,x,{}{row}\n",
                    if (trial + row).is_multiple_of(3) { "yes" } else { "no" }
                )
            });
            text += &format!("1,x,{secret}9\n1,y,u\n1,y,v\n1,y,w\n");
            Case::new(&text, &toml)
        };
        let cases = [table("yes"), table("no")];
        let found = [0, 1].map(|at| cases[at].search(Algorithm::Mondrian, 1));
        let truth = usize::from(trial.is_multiple_of(2));
        let seed = u64::from(trial) << 32;
        let published = cases[truth].released(&found[truth], Key::from_seed(seed));
        if published.iter().any(|note| note.ends_with('9')) {
            continue;
        }
        let alike = |at: usize| {
            (1..=120)
                .filter(|&guess| {
                    cases[at].released(&found[at], Key::from_seed(seed + guess)) == published
                })
                .count()
        };
        let likely = [alike(0), alike(1)];
        trials += 1.0;
        right += match likely[truth].cmp(&likely[1 - truth]) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        };
        assert!(
            likely[0] > 0 && likely[1] > 0,
            "one of the two is excluded in trial {trial}: {likely:?}"
        );
    }
    // Three standard deviations of as many tosses of a coin.
    let off = (right - trials / 2.0).abs();
    assert!(
        trials > 15.0 && off < 3.0 * (trials / 4.0_f64).sqrt(),
        "{right} of {trials} guesses were right"
    );
}
