//! Whoever calls inside a pool of their own gets no thread of the global pool. This is the only test
//! of its process: the global pool can be made once, and only while nobody has used it.

use lookalike::request::Input;
use lookalike::run::Cancel;
use lookalike::{Request, table};
use lookalike_report::check::check;
use lookalike_report::compare::{ComparePlan, RuleSet, compare, read};
use lookalike_report::query::{QueryChoice, RandomQueries, query};
use lookalike_report::report::{ReportOptions, report};
use lookalike_report::suggest::suggest;
use lookalike_report::verify::verify;

#[test]
fn everything_runs_in_the_pool_of_the_caller() {
    let request = Request::new(2).quasi_identifiers(["age", "zip"]);
    // Enough rows for every part that is divided among threads.
    let row = |i: u32, age: String| format!("{age},{}\n", i % 50);
    let rows = |age: fn(u32) -> String| (0..40_000).map(|i| row(i, age(i))).collect::<String>();
    let source = || {
        let text = format!("age,zip\n{}", rows(|i| (i % 80).to_string()));
        table::open_text(text, "source".as_ref()).unwrap()
    };
    let release = || {
        let text = format!("age,zip\n{}", rows(|_| "[0-79]".to_string()));
        table::open_text(text, "release".as_ref()).unwrap()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(|| {
        let cancel = Cancel::default();
        assert!(check(source(), &request).unwrap().holds());
        let verified = verify(release(), Some(source().into()), &request, None).unwrap();
        assert!(verified.verdict.holds());
        let options = ReportOptions { queries: 10, ..ReportOptions::default() };
        let page = report(source(), release(), &request, &options, &cancel, &|_| {}).unwrap();
        assert!(page.holds);
        let choice = RandomQueries { queries: 10, seed: 1, on: Vec::new(), sum: None };
        let choice = QueryChoice::Random(choice);
        assert_eq!(query(source(), release(), &request, choice).unwrap().source_rows, 40_000);
        assert_eq!(suggest(source(), &Input::default()).unwrap().columns.len(), 2);
        let mut request = request.clone();
        request.steps = Some(5);
        let sets = [RuleSet { name: String::new(), request, ks: vec![Some(5)] }];
        let plan = ComparePlan { queries: 10, ..ComparePlan::default() };
        let table = read(source(), &sets).unwrap();
        let found = compare(&table, &sets, &plan, &cancel, &|_| {}).unwrap();
        assert!(found.runs.iter().all(|run| run.numbers().is_some()));
    });
    let global = rayon::ThreadPoolBuilder::new().num_threads(1).build_global();
    assert!(global.is_ok(), "somebody has started the global pool: {global:?}");
}
