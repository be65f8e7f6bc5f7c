//! Queries on real releases: the answers are the same for every way to publish, every format and
//! any number of threads.

use std::path::Path;

use lookalike::audit::AuditView;
use lookalike::evaluate::query::{Answer, Query, Workload, answer, draw, summable, summarize};
use lookalike::{Algorithm, Request};

use crate::support::{built, hospital, publish, read};

fn request(k: u64, more: &str) -> Request {
    Request::parse(&format!(
        "k = {k}\n{more}\n[columns]\nname = {{ role = \"identifier\" }}\nage = {{ role = \
         \"quasi\", hierarchy = {{ intervals = [5, 10] }} }}\n\
         zip = {{ role = \"quasi\", hierarchy = {{ prefix = [4, 3, 2] }} }}\nsex = {{ role = \
         \"quasi\" }}\nmarital = {{ role = \"quasi\" }}\n\
         admission = {{ role = \"quasi\", hierarchy = {{ date = [\"month\", \"year\"] }} }}\n\
         diagnosis = {{ role = \"sensitive\" }}\nward = {{ role = \"keep\", dependent = true }}\n"
    ))
    .unwrap()
}

/// Counts and sums over all quasi-identifiers, and over kept columns too.
fn queries(input: &Path, request: &Request) -> Vec<Query> {
    let source = read(input, request, AuditView::Source).unwrap();
    assert_eq!(summable(&source, request).unwrap().as_deref(), Some("age"));
    let one = |sum: Option<&str>, on: &[&str]| {
        let on = on.iter().map(ToString::to_string).collect();
        draw(
            &source,
            request,
            &Workload { queries: 60, seed: 4, sum: sum.map(String::from), on, conditions: None },
        )
        .unwrap()
    };
    [one(None, &[]), one(Some("age"), &[]), one(None, &["diagnosis", "ward", "age", "admission"])]
        .concat()
}

fn answers(input: &Path, output: &Path, request: &Request, queries: &[Query]) -> Vec<Answer> {
    publish(input, output, request, Algorithm::Mondrian, 1).unwrap();
    let source = read(input, request, AuditView::Source).unwrap();
    answer(
        &source,
        &read(output, request, AuditView::ReleaseAgainstSource).unwrap(),
        request,
        queries,
    )
    .unwrap()
}

#[test]
fn a_release_with_k_of_1_answers_everything_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let input = hospital(folder.path(), 21, 300);
    let request = request(1, "");
    for answer in
        answers(&input, &folder.path().join("same.csv"), &request, &queries(&input, &request))
    {
        assert!(answer.truth > 0.0 && answer.error() == Some(0.0), "{answer:?}");
    }
}

#[test]
fn labels_and_bounds_in_every_format_have_the_same_answers() {
    let folder = tempfile::tempdir().unwrap();
    let input = hospital(folder.path(), 22, 400);
    let ages_missing = folder.path().join("missing.csv");
    let text = std::fs::read_to_string(&input).unwrap();
    let lines = text.lines().enumerate().map(|(at, line)| {
        let (name, rest) = line.split_once(',').unwrap();
        let (age, rest) = rest.split_once(',').unwrap();
        format!("{name},{},{rest}\n", if at % 9 == 1 { "" } else { age })
    });
    std::fs::write(&ages_missing, lines.collect::<String>()).unwrap();
    for input in [&input, &ages_missing] {
        let label = request(5, "");
        let queries = queries(input, &label);
        let expected = answers(input, &folder.path().join("safe.csv"), &label, &queries);
        let inexact = expected.iter().filter(|answer| answer.error() > Some(0.01)).count();
        assert!(inexact > 100, "the release hides something: {inexact}");
        for way in ["", "[output]\npublish = \"bounds\""] {
            for file in built(&["safe.csv", "safe.tsv.gz", "safe.parquet", "safe.arrow"]) {
                let found = answers(input, &folder.path().join(file), &request(5, way), &queries);
                for (found, expected) in found.iter().zip(&expected) {
                    assert!((found.truth - expected.truth).abs() < 1e-12, "{way}, {file}");
                    assert!(
                        (found.estimate - expected.estimate).abs() < 1e-9 * expected.truth,
                        "{way}, {file}"
                    );
                }
            }
        }
    }
}

#[test]
fn sets_intervals_and_suppression_are_answered_too() {
    let folder = tempfile::tempdir().unwrap();
    let input = hospital(folder.path(), 23, 400);
    let label = request(5, "");
    let queries = queries(&input, &label);
    let expected = summarize(&answers(&input, &folder.path().join("safe.csv"), &label, &queries));
    for way in
        ["[output]\npublish = \"set\"", "[output]\nsnap = true", "[limits]\nsuppress = \"5%\""]
    {
        let found = summarize(&answers(
            &input,
            &folder.path().join("safe.csv"),
            &request(5, way),
            &queries,
        ));
        assert_eq!((found.queries, found.undefined), (180, 0), "{way}");
        assert!(
            found.mean_error.unwrap() < 3.0 * expected.mean_error.unwrap(),
            "{way}: {found:?}, {expected:?}"
        );
        assert!(found != expected, "{way}");
    }
}

#[test]
fn threads_do_not_change_answers() {
    let folder = tempfile::tempdir().unwrap();
    let input = hospital(folder.path(), 24, 2_000);
    let request = request(5, "");
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| {
            let queries = queries(&input, &request);
            let answers = answers(&input, &folder.path().join("safe.csv"), &request, &queries);
            (queries, answers)
        });
        let bits: Vec<(u64, u64)> = found
            .1
            .iter()
            .map(|answer| (answer.truth.to_bits(), answer.estimate.to_bits()))
            .collect();
        (found.0, bits)
    };
    let one = run(1);
    assert!(run(2) == one && run(5) == one);
}
