//! Warnings: a rule that protects nobody, rows that are not persons, a release without detail.

use lookalike::domain::attribute::Domain;
use lookalike::evaluate::profile::repeated_persons;
use lookalike::request::Share;
use lookalike::table::DistinctCount;
use lookalike::{Error, ErrorKind, Problem, Request, Result, Status};

use crate::pipeline::SearchReport;
use crate::request::has_rule;
use crate::show::{count, percent};

/// From this share of lost detail on, a column or a release is useless.
const NOTHING_LEFT: f64 = 0.99;

/// Warnings about the request and about columns that identify persons.
pub(crate) fn of_request(request: &Request, counted: &[DistinctCount]) -> Vec<String> {
    one_row(request).into_iter().chain(counted.iter().filter_map(repeated_persons)).collect()
}

/// A class of one row protects nobody.
pub(crate) fn one_row(request: &Request) -> Option<String> {
    let others = Request {
        k: None,
        rules: request.rules.iter().filter(|rule| rule.k > 1).cloned().collect(),
        ..request.clone()
    };
    let protects_nobody = request.k == Some(1) && !has_rule(&others);
    protects_nobody.then(|| {
        "k = 1 protects nobody: every row is a class of its own and is published unchanged; use at \
         least -k 2, better -k 5"
            .to_string()
    })
}

/// Columns of which no release can publish a value: labels without a hierarchy, none of which has
/// k rows.
pub(crate) fn hopeless(problem: &Problem) -> Vec<String> {
    let k = problem.k();
    let is_flat = |domain: &Domain| matches!(domain, Domain::Tree(tree) if tree.height() <= 1 && tree.leaves() > 1);
    let is_hopeless = |at: usize| {
        let mut rows = vec![0u64; problem.attributes()[at].codes()];
        for tuple in 0..u32::try_from(problem.tuples()).expect("fewer tuples than rows") {
            rows[problem.code(at, tuple) as usize] += u64::from(problem.count(tuple));
        }
        rows.iter().all(|&rows| rows < k)
    };
    let attributes = problem.attributes().iter().enumerate();
    let found = attributes.filter(|(at, attribute)| is_flat(&attribute.domain) && is_hopeless(*at));
    found
        .map(|(_, attribute)| {
            format!(
                "column `{0}` can only be published as `*`: none of its values has {1} rows; drop it \
                 (--identifier {0}), or give it a hierarchy",
                attribute.name,
                count(k)
            )
        })
        .collect()
}

/// Warnings about a release that satisfies the rules but has lost its detail.
pub(crate) fn of_release(found: &SearchReport, request: &Request) -> Vec<String> {
    let columns = || found.quasi.iter().zip(&found.shown);
    let lost: Vec<&String> =
        columns().filter(|(_, shown)| shown.whole >= NOTHING_LEFT).map(|(name, _)| name).collect();
    if found.loss.gcp >= NOTHING_LEFT || lost.len() == found.quasi.len() {
        let no_distance = |(name, line): (&String, &lookalike::request::ColumnRequest)| {
            line.t.is_some_and(|Share(t)| t.num() == 0).then(|| name.clone())
        };
        let why = match request.columns.iter().find_map(no_distance) {
            Some(name) => format!(
                "t = 0 on column `{name}` demands the distribution of the whole table in every \
                 class; allow more, such as --t {name}=0.2"
            ),
            None if found.status == Status::Stopped => {
                "the search was stopped too early; give it more time (--time 60s), or use another \
                 algorithm"
                    .to_string()
            }
            None => "use a smaller k or weaker rules, drop quasi-identifiers, or give them \
                     hierarchies"
                .to_string(),
        };
        return vec![format!(
            "this release has almost no detail: {} of the detail of the quasi-identifiers is lost; \
             {why}",
            percent(
                found.loss.gcp.max(columns().map(|(_, shown)| shown.whole).fold(1.0, f64::min))
            )
        )];
    }
    let whole = columns().filter(|(_, shown)| shown.whole >= NOTHING_LEFT);
    whole
        .map(|(name, shown)| {
            format!(
                "column `{name}` has lost its detail: {} of its cells cover the whole column; drop it \
                 (--identifier {name}), so that the other columns lose less, or give it a hierarchy \
                 with smaller groups",
                percent(shown.whole)
            )
        })
        .collect()
}

/// Refuses a release with a loss above `max_loss`.
pub(crate) fn refuse_loss(found: &SearchReport, request: &Request) -> Result<()> {
    let Some(most) = request.max_loss()? else { return Ok(()) };
    if found.loss.gcp <= most + 1e-12 {
        return Ok(());
    }
    let worst = found.quasi.iter().zip(&found.loss.by_attribute).max_by(|a, b| a.1.total_cmp(b.1));
    let worst = worst.map_or(String::new(), |(name, _)| format!(", most of it in column `{name}`"));
    Err(Error::from(ErrorKind::Infeasible {
        why: format!(
            "the release would lose {} of the detail{worst}, and max_loss (--max-loss) allows \
             {}: nothing was written; give the search more time (--time 60s), use a smaller k, drop \
             a quasi-identifier or give it a hierarchy, or allow a greater loss",
            percent(found.loss.gcp),
            percent(most)
        ),
    }))
}
