//! Warnings: a rule that protects nobody, rows that are not persons, a release without detail.

use crate::domain::attribute::{Attribute, Domain};
use crate::error::{Error, Hint, Result, Warning};
use crate::evaluate::loss::GeneralizedShare;
use crate::evaluate::profile::repeated_persons;
use crate::numbers::{count, percent};
use crate::problem::Problem;
use crate::request::{ColumnRequest, Request, Share};
use crate::search::global::Techniques;
use crate::search::{Algorithm, Status};
use crate::table::DistinctCount;

use super::options::RecodingPlan;
use super::report::Found;

/// From this share of lost detail on, a column is useless.
const NOTHING_LEFT: f64 = 0.99;

/// From this share of lost detail on, a release is hardly of use.
const HARDLY_LEFT: f64 = 0.9;

/// Warnings about the request and about columns that identify persons.
pub fn request_warnings(request: &Request, counted: &[DistinctCount]) -> Vec<Warning> {
    one_row(request).into_iter().chain(counted.iter().filter_map(repeated_persons)).collect()
}

/// A class of one row protects nobody.
pub fn one_row(request: &Request) -> Option<Warning> {
    let others = Request {
        k: None,
        rules: request.rules.iter().filter(|rule| rule.k > 1).cloned().collect(),
        ..request.clone()
    };
    let protects_nobody = request.k == Some(1) && !has_rule(&others);
    protects_nobody.then(|| {
        let reason = "k = 1 protects nobody: every row is a class of its own and is published \
                      unchanged; use at least 2, better 5";
        Warning::new("k-is-one", reason)
    })
}

/// Pseudonyms say more than k does.
pub(super) fn pseudonyms(request: &Request) -> Option<Warning> {
    request.output.pseudonyms.then(|| {
        let reason = "pseudonyms connect the rows of a person: whoever knows how many rows a person \
                      has, or what some of them say in the columns published unchanged, may find \
                      the others; publish them only where rows have to be followed";
        Warning::new("pseudonyms-connect", reason)
    })
}

/// Releases with hashes of one key can be joined.
pub(super) fn hashes(request: &Request) -> Option<Warning> {
    request.output.hash_key.is_some().then(|| {
        let reason = "hashes of one key connect releases: the same identifier has the same hash in \
                      all of them, and their classes can be intersected; without a key file every \
                      release has hashes of its own";
        Warning::new("hashes-connect", reason)
    })
}

/// Columns of which no release can publish a value: labels without a hierarchy, none of which has
/// k rows.
pub(super) fn hopeless(problem: &Problem) -> Vec<Warning> {
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
    let warning = |(_, attribute): (usize, &Attribute)| {
        let name = &attribute.name;
        let reason = format!(
            "column `{name}` can only be published as `*`: none of its values has {} rows",
            count(k)
        );
        let hierarchy = Hint::plain("give it a hierarchy");
        let warning = Warning::new("only-any-value", reason).about_column(name);
        warning.hint(Hint::DropColumn { column: name.clone() }).hint(hierarchy)
    };
    found.map(warning).collect()
}

/// Warnings about a release that satisfies the rules but has lost its detail.
pub(super) fn of_release(found: &Found, request: &Request) -> Vec<Warning> {
    let columns = || found.quasi.iter().zip(&found.generalized);
    let lost = columns().filter(|(_, shares)| shares.whole >= NOTHING_LEFT);
    if found.loss.gcp >= HARDLY_LEFT || lost.clone().count() == found.quasi.len() {
        let least = columns().map(|(_, shares)| shares.whole).fold(1.0, f64::min);
        return vec![no_detail(found, request, found.loss.gcp.max(least))];
    }
    let warning = |(name, shares): (&String, &GeneralizedShare)| {
        let reason = format!(
            "column `{name}` has lost its detail: {} of its cells cover the whole column",
            percent(shares.whole)
        );
        let warning = Warning::new("column-without-detail", reason).about_column(name);
        let groups = "give it a hierarchy with smaller groups: other columns lose less then";
        warning.hint(Hint::DropColumn { column: name.clone() }).hint(Hint::plain(groups))
    };
    lost.map(warning).collect()
}

/// The warning about a release without detail, and why that is so.
fn no_detail(found: &Found, request: &Request, lost: f64) -> Warning {
    let said = format!(
        "this release has almost no detail: {} of the detail of the quasi-identifiers is lost",
        percent(lost)
    );
    let of_zero = |(name, line): (&String, &ColumnRequest)| {
        line.t.is_some_and(|Share(t)| t.num() == 0).then(|| name.clone())
    };
    if let Some(column) = request.columns.iter().find_map(of_zero) {
        let why = format!(
            "{said}; t = 0 on column `{column}` demands the distribution of the whole table in \
             every class"
        );
        return Warning::new("no-detail", why).hint(Hint::AllowDistance { column });
    }
    if found.status == Status::Stopped {
        let why = format!("{said}; the search was stopped too early");
        return Warning::new("no-detail", why).hint(Hint::MoreTime).hint(Hint::OtherAlgorithm);
    }
    let weaker =
        "use a smaller k or weaker rules, drop quasi-identifiers, or give them hierarchies";
    Warning::new("no-detail", said).hint(Hint::plain(weaker))
}

/// Refuses a release with a loss above `max_loss`.
pub(super) fn refuse_loss(found: &Found, request: &Request) -> Result<()> {
    let Some(most) = request.max_loss()? else { return Ok(()) };
    if found.loss.gcp <= most + 1e-12 {
        return Ok(());
    }
    let worst = found.quasi.iter().zip(&found.loss.by_attribute).max_by(|a, b| a.1.total_cmp(b.1));
    let worst = worst.map_or(String::new(), |(name, _)| format!(", most of it in column `{name}`"));
    let reason = format!(
        "the release would lose {} of the detail{worst}, and max_loss allows {}: nothing was \
         written",
        percent(found.loss.gcp),
        percent(most)
    );
    let weaker = "use a smaller k, drop a quasi-identifier or give it a hierarchy";
    Err(Error::infeasible("loss-too-great", reason)
        .hint(Hint::MoreTime)
        .hint(Hint::plain(weaker))
        .hint(Hint::AllowLoss))
}

/// Options that have no effect with this algorithm.
pub(super) fn unused(plan: &RecodingPlan, request: &Request) -> Vec<Warning> {
    use Algorithm::{Auto, BottomUp, BottomUpRow, Cluster, Optimal, Ring, TopDown, TopDownRow};
    let RecodingPlan::Search(search) = plan else { return unused_by_a_file(request) };
    let in_rounds: &[Algorithm] = &[BottomUp, BottomUpRow, TopDown, TopDownRow, Cluster, Ring];
    let options = [
        (request.steps.is_some(), "the number of steps", &[Auto][..]),
        (request.rounds.is_some(), "the number of rounds", in_rounds),
        (search.techniques != Techniques::default(), "the branching rule", &[Optimal]),
    ];
    let own = search.algorithm;
    let unused = options.into_iter().filter(|(is_set, _, users)| *is_set && !users.contains(&own));
    let warning = |(_, option, users): (bool, &str, &[Algorithm])| {
        let names: Vec<&str> = users.iter().map(|algorithm| algorithm.name()).collect();
        let verb = if names.len() == 1 { "uses" } else { "use" };
        let reason =
            format!("{option} has no effect with {own}: only {} {verb} it", names.join(", "));
        Warning::new("no-effect", reason)
    };
    unused.map(warning).chain(unused_price(request, own)).collect()
}

/// A price of suppressed rows that no search asks for.
fn unused_price(request: &Request, own: Algorithm) -> Option<Warning> {
    request.limits.suppression_price?;
    let no_rows = request.limits.suppress.is_none_or(|Share(share)| share.num() == 0);
    let why = if no_rows {
        "no row may be suppressed".to_string()
    } else if own.is_global() {
        format!("{own} counts a suppressed row by the cost that it minimizes")
    } else if !own.is_homogeneous() {
        format!("{own} suppresses only rows that no release could contain")
    } else {
        return None;
    };
    let reason = format!("the price of a suppressed row has no effect: {why}");
    Some(Warning::new("no-effect", reason))
}

/// Options of a search, where the recoding comes from a file.
fn unused_by_a_file(request: &Request) -> Vec<Warning> {
    let is_set = request.algorithm.is_some()
        || request.scheme.is_some()
        || request.cost.is_some()
        || request.steps.is_some()
        || request.rounds.is_some()
        || request.limits.suppression_price.is_some()
        || request.limits.time.is_some();
    let reason = "the options of a search have no effect: the recoding comes from a file";
    is_set.then(|| Warning::new("no-effect", reason)).into_iter().collect()
}

/// True when the request has at least one rule.
pub fn has_rule(request: &Request) -> bool {
    request.k.is_some()
        || !request.rules.is_empty()
        || request.columns.values().any(ColumnRequest::has_rule)
}
