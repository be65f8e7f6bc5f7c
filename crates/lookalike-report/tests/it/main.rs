//! Every function on tables from memory gives what it gives on the same tables as text.

mod tables;

use std::cell::RefCell;
use std::path::Path;

use lookalike::evaluate::query::parse;
use lookalike::request::{ColumnRequest, Input, Role};
use lookalike::run::{Cancel, Effort};
use lookalike::{Algorithm, ErrorKind, Hint, Request};
use lookalike_report::Event;
use lookalike_report::check::check;
use lookalike_report::compare::{
    ComparePlan, Comparison, RuleSet, compare, plot_names, plots, read, usual_algorithms,
};
use lookalike_report::proof::parse_proof;
use lookalike_report::query::{NoSums, QueryChoice, QueryDetail, RandomQueries, query};
use lookalike_report::report::{Edition, Report, ReportOptions, TableNames, report};
use lookalike_report::suggest::suggest;
use lookalike_report::verify::verify;
use serde_json::Value;

use tables::{RELEASE, SOURCE, in_memory, request, text};

#[test]
fn a_check_of_a_table_in_memory_is_that_of_its_text() {
    let of_text = check(text(SOURCE), &request()).unwrap();
    let of_memory = check(in_memory(SOURCE), &request()).unwrap();
    assert!(!of_memory.holds());
    assert_eq!(of_memory.quasi, ["age", "sex"]);
    assert_eq!(of_memory.json(Hint::words), of_text.json(Hint::words));
    assert!(check(in_memory(RELEASE), &request()).unwrap().holds());
    let without_rules = Request { k: None, ..Request::new(1).quasi_identifiers(["age", "sex"]) };
    let measured = check(in_memory(SOURCE), &without_rules).unwrap();
    assert!(measured.json(Hint::words)["holds"].is_null() && measured.rules.is_empty());
}

#[test]
fn a_release_in_memory_is_verified_against_a_source_in_memory() {
    let of_text = verify(text(RELEASE), Some(text(SOURCE).into()), &request(), None).unwrap();
    let found = verify(in_memory(RELEASE), Some(in_memory(SOURCE).into()), &request(), None);
    let found = found.unwrap();
    assert!(found.verdict.holds() && found.verdict.truth.is_some());
    assert_eq!((found.json(), &found.quasi), (of_text.json(), &of_text.quasi));
    let alone = verify(in_memory(SOURCE), None, &request(), None).unwrap();
    assert_eq!(
        (alone.json()["holds"].as_bool(), alone.verdict.truth.is_none()),
        (Some(false), true)
    );
}

#[test]
fn only_text_has_apostrophes_before_formulas() {
    let request = Request::new(1).quasi_identifiers(["age"]).keep(["note"]);
    let (source, guarded) = ("age,note\n34,=1+1\n", "age,note\n34,'=1+1\n");
    let holds = |release, source| {
        verify(release, Some(lookalike::run::Input::from(source)), &request, None)
            .unwrap()
            .verdict
            .holds()
    };
    assert!(holds(text(guarded), in_memory(source)));
    assert!(holds(in_memory(source), in_memory(source)));
    assert!(!holds(in_memory(guarded), in_memory(source)), "the cell is another one");
}

#[test]
fn a_release_whose_rules_count_persons_needs_its_proof() {
    let mut request = Request::new(2).quasi_identifiers(["age"]);
    request.columns.insert("pid".into(), ColumnRequest::new(Role::Person));
    let (source, release) = ("pid,age\na,30\nb,31\n", "age\n[30-31]\n[30-31]\n");
    let verified =
        |proof| verify(in_memory(release), Some(in_memory(source).into()), &request, proof);
    assert_eq!(verified(None).unwrap_err().code(), "persons-need-proof");
    let origins = |text| parse_proof(text, &request).unwrap();
    let proof = origins("released_row,source_row,rows\n1,1,1\n2,2,1\n");
    assert!(verified(Some(&proof)).unwrap().verdict.holds());
    let twice = origins("released_row,source_row,rows\n1,1,1\n2,1,1\n");
    assert!(!verified(Some(&twice)).unwrap().verdict.holds(), "one person behind both rows");
}

#[test]
fn a_non_homogeneous_release_needs_its_source_and_has_no_page() {
    let request = Request { non_homogeneous: true, ..request() };
    let error = verify(in_memory(RELEASE), None, &request, None).unwrap_err();
    assert_eq!((error.code(), error.hints()), ("needs-source", &[Hint::GiveSource][..]));
    let error = page(&request, &ReportOptions::default()).unwrap_err();
    assert_eq!(error.code(), "report-without-classes");
}

#[test]
fn queries_of_tables_in_memory_have_the_answers_of_their_text() {
    let random = |on: &[&str]| {
        let on = on.iter().map(|name| name.to_string()).collect();
        QueryChoice::Random(RandomQueries { queries: 20, seed: 3, on, sum: None })
    };
    let of_memory = query(in_memory(SOURCE), in_memory(RELEASE), &request(), random(&[])).unwrap();
    let of_text = query(text(SOURCE), text(RELEASE), &request(), random(&[])).unwrap();
    let object = of_memory.json(QueryDetail::Each);
    assert_eq!(object, of_text.json(QueryDetail::Each));
    assert_eq!((&object["seed"], &object["workloads"][1]["sum"]), (&3.into(), &"age".into()));
    assert_eq!(object["workloads"][0]["each"].as_array().unwrap().len(), 20);
    assert!(of_memory.json(QueryDetail::Summary)["workloads"][0]["each"].is_null());
    assert_eq!(of_memory.no_sums, None);
    let one = query(in_memory(SOURCE), in_memory(RELEASE), &request(), random(&["age"])).unwrap();
    assert_eq!(one.no_sums, Some(NoSums::OnlyColumn("age".to_string())));
    // Three of the six rows are of women, in the source and in the release.
    let own = QueryChoice::Own(parse("[[query]]\nwhere = { sex = 'f' }").unwrap());
    let own = query(in_memory(SOURCE), in_memory(RELEASE), &request(), own).unwrap();
    let answer = own.groups[0].answered[0].answer;
    assert_eq!((answer.truth, answer.estimate, own.seed), (3.0, 3.0, None));
}

fn page(request: &Request, options: &ReportOptions) -> lookalike::Result<Report> {
    let (source, release) = (in_memory(SOURCE), in_memory(RELEASE));
    report(source, release, request, options, &Cancel::default(), &|_| {})
}

fn options(edition: Edition) -> ReportOptions {
    let names =
        TableNames { source: "/hidden-folder/patients.csv".into(), release: "/x/safe.csv".into() };
    // Without a time limit: a page is the same every time.
    ReportOptions { names, edition, bound: Effort::Full, queries: 20, ..ReportOptions::default() }
}

#[test]
fn a_page_about_tables_in_memory_is_that_of_their_text() {
    let of_memory = page(&request(), &options(Edition::Internal)).unwrap();
    let (cancel, options) = (Cancel::default(), options(Edition::Internal));
    let of_text = report(text(SOURCE), text(RELEASE), &request(), &options, &cancel, &|_| {});
    let of_text = of_text.unwrap();
    assert_eq!((&of_memory.html, &of_memory.numbers), (&of_text.html, &of_text.numbers));
    assert!(of_memory.holds && of_memory.verdict.starts_with("This file is 3-anonymous"));
    assert_eq!(of_memory.numbers["rows"]["source"], 6);
    assert!(of_memory.html.contains("/hidden-folder/patients.csv"));
    // There is no file, so no checksum, and nobody gave a date.
    for file in ["source", "release"] {
        assert!(of_memory.numbers["record"][file]["sha256"].is_null());
    }
    assert!(of_memory.numbers["record"]["date"].is_null());
    assert!(of_memory.html.contains("none: no file that can be read again"));
}

#[test]
fn a_public_page_has_no_folder_and_no_distribution() {
    let page = page(&request(), &options(Edition::Public)).unwrap();
    assert!(
        !page.html.contains("hidden-folder") && !page.numbers.to_string().contains("hidden-folder")
    );
    assert_eq!(page.numbers["distributions"], Value::Array(Vec::new()));
}

#[test]
fn a_release_that_breaks_a_rule_has_a_page_too() {
    let request = Request { k: Some(4), ..request() };
    let page = page(&request, &options(Edition::Internal)).unwrap();
    assert!(!page.holds && page.verdict.contains("NOT"), "{}", page.verdict);
}

#[test]
fn a_page_that_is_given_up_is_no_page() {
    let cancel = Cancel::default();
    cancel.abandon();
    let (source, release) = (in_memory(SOURCE), in_memory(RELEASE));
    let ended = report(source, release, &request(), &options(Edition::Public), &cancel, &|_| {});
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Interrupted);
}

#[test]
fn warnings_come_while_a_page_is_made() {
    let request = Request::new(2).quasi_identifiers(["age"]).identifiers(["patient_id"]);
    let source = "patient_id,age\n1,30\n1,30\n1,31\n2,31\n2,31\n2,30\n";
    let release = "age\n30\n30\n30\n31\n31\n31\n";
    let seen = RefCell::new(Vec::new());
    let notify = |event: Event<'_>| {
        seen.borrow_mut().extend(event.warning(Hint::words).map(|(code, _)| code));
    };
    let options = ReportOptions { queries: 0, ..options(Edition::Internal) };
    let (source, release) = (in_memory(source), in_memory(release));
    report(source, release, &request, &options, &Cancel::default(), &notify).unwrap();
    assert_eq!(*seen.borrow(), ["rows-not-persons"]);
}

fn sets() -> [RuleSet; 1] {
    [RuleSet { name: String::new(), request: request(), ks: vec![Some(2), Some(3), Some(7)] }]
}

fn plan() -> ComparePlan {
    let algorithms = vec![Algorithm::Mondrian, Algorithm::BottomUp];
    ComparePlan { algorithms, bound: Effort::Full, queries: 20, ..ComparePlan::default() }
}

/// The results without times and memory.
fn numbers(found: &Comparison) -> Value {
    let mut object = found.json(Hint::words);
    for run in object["runs"].as_array_mut().unwrap() {
        let run = run.as_object_mut().unwrap();
        run.remove("search_seconds");
        run.remove("peak_bytes");
    }
    object
}

#[test]
fn a_comparison_of_a_table_in_memory_is_that_of_its_text() {
    let (sets, plan, seen) = (sets(), plan(), RefCell::new(Vec::new()));
    let notify = |event: Event<'_>| {
        if let Event::Search(step) = event {
            seen.borrow_mut().push((step.number, step.searches, step.k));
        }
    };
    let table = read(in_memory(SOURCE), &sets).unwrap();
    let of_memory = compare(&table, &sets, &plan, &Cancel::default(), &notify).unwrap();
    let table = read(text(SOURCE), &sets).unwrap();
    let of_text = compare(&table, &sets, &plan, &Cancel::default(), &|_| {}).unwrap();
    assert_eq!(numbers(&of_memory), numbers(&of_text));
    // No search is made for 7 of 6 rows.
    let two = [(1, 6, Some(2)), (2, 6, Some(2)), (3, 6, Some(3)), (4, 6, Some(3))];
    assert_eq!(*seen.borrow(), two);
    assert_eq!((of_memory.rows, of_memory.runs.len()), (6, 6));
    assert!(of_memory.runs[4..].iter().all(|run| run.numbers().is_none()));
    let object = numbers(&of_memory);
    assert_eq!(object["runs"][5]["status"], "not met");
    assert_eq!(object["runs"][2]["smallest"], 3, "three women and three men");
    assert_eq!(of_memory.csv(Hint::words).lines().count(), 7);
    let drawn = plots(&sets, &plan, &of_memory);
    assert!(drawn.iter().all(|(name, svg)| {
        plot_names(&sets).contains(name) && svg.starts_with("<svg ") && svg.contains("mondrian")
    }));
    assert_eq!(drawn[0].0, "loss-by-k.svg");
}

#[test]
fn a_comparison_that_is_ended_has_the_results_so_far() {
    let (sets, plan, cancel) = (sets(), plan(), Cancel::default());
    let table = read(in_memory(SOURCE), &sets).unwrap();
    let end_at_second = |event: Event<'_>| {
        if matches!(event, Event::Search(step) if step.number == 2) {
            cancel.end_search();
        }
    };
    let found = compare(&table, &sets, &plan, &cancel, &end_at_second).unwrap();
    assert_eq!(found.runs.len(), 1);
    cancel.abandon();
    let error = compare(&table, &sets, &plan, &cancel, &|_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
}

#[test]
fn the_usual_algorithms_are_local_and_homogeneous() {
    let usual = usual_algorithms();
    assert!(usual.contains(&Algorithm::Auto) && usual.contains(&Algorithm::Mondrian));
    assert!(!usual.contains(&Algorithm::Ring) && !usual.contains(&Algorithm::Optimal));
}

#[test]
fn a_request_is_suggested_for_a_table_in_memory() {
    let of_memory = suggest(in_memory(SOURCE), &Input::default()).unwrap();
    let of_text = suggest(text(SOURCE), &Input::default()).unwrap();
    assert_eq!(of_memory.json(Hint::words), of_text.json(Hint::words));
    let read = Request::parse(&of_memory.toml).unwrap();
    assert_eq!((read.input.path, read.columns.len()), (None, 3));
    let at = Input { path: Some("t.csv".into()), ..Input::default() };
    let with_path = suggest(in_memory(SOURCE), &at).unwrap();
    let read = Request::parse(&with_path.toml).unwrap();
    assert_eq!(read.input.path.as_deref(), Some(Path::new("t.csv")));
    let error = suggest(in_memory("age\n"), &Input::default()).unwrap_err();
    assert_eq!(error.code(), "no-rows");
}
