//! The searches: the request as it is, and each variation of it by the same quick algorithm.

use lookalike::evaluate::loss::loss;
use lookalike::problem::partition;
use lookalike::problem::recoding::Recoding;
use lookalike::request::ratio::Ratio;
use lookalike::request::{Roles, Share};
use lookalike::run::{Cancel, USUAL_TIME};
use lookalike::table::Table;
use lookalike::{
    Algorithm, Budget, Error, ErrorKind, Hint, Problem, Request, Result, SearchOptions, Status,
    Warning, solve,
};
use rayon::prelude::*;

use super::unique::unique_share;
use super::{CoarserColumn, ColumnCost, CostlyRows, Explanation, SmallerK, SuppressedShare};

/// Up to so many distinct tuples are searched by `top-down`, more by `mondrian`, which is quicker
/// and loses more: about three searches a column have to fit into the time of one run.
const FEW_TUPLES: usize = 30_000;

/// Values of k that people choose.
const USUAL_K: [u64; 9] = [2, 3, 5, 10, 20, 50, 100, 500, 1000];

/// A quick search: the losses of the published rows.
struct Found {
    recoding: Recoding,
    suppressed: u64,
    /// For each attribute the sum of its losses over published rows, and the most it could be.
    columns: Vec<(f64, f64)>,
}

impl Found {
    /// The loss of all columns but one, 0 to 1.
    fn without(&self, left_out: Option<usize>) -> f64 {
        let others = self.columns.iter().enumerate().filter(|(at, _)| Some(*at) != left_out);
        let (lost, most) =
            others.fold((0.0, 0.0), |(lost, most), (_, column)| (lost + column.0, most + column.1));
        if most > 0.0 { lost / most } else { 0.0 }
    }
}

/// A change of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variation {
    Without(usize),
    SmallerK(u64),
    MoreSuppressed,
    Coarser(usize),
}

/// What a variation has come to.
enum Tried {
    Found(Box<Found>),
    /// There is no such variation of this request.
    Nothing,
    /// The time was over.
    NoTime,
}

impl Tried {
    fn found(&self) -> Option<&Found> {
        match self {
            Tried::Found(found) => Some(found),
            Tried::Nothing | Tried::NoTime => None,
        }
    }
}

/// The quick searches and their common time.
struct Quick<'a> {
    table: &'a Table,
    roles: &'a Roles,
    request: &'a Request,
    base: &'a Problem,
    algorithm: Algorithm,
    price: f64,
    budget: Budget,
    cancel: &'a Cancel,
}

impl Quick<'_> {
    /// None when there is no time for it.
    fn search(&self, problem: &Problem) -> Result<Option<Found>> {
        if self.cancel.is_abandoned() {
            return Err(Error::interrupted());
        }
        if self.budget.is_spent() {
            return Ok(None);
        }
        let (suppression_price, usual) = (self.price, SearchOptions::new(self.algorithm, 1));
        let options = SearchOptions { suppression_price, ..usual };
        let outcome = solve(problem, options, &self.budget);
        Ok((outcome.status != Status::Stopped).then(|| found(problem, outcome.recoding)))
    }

    fn attempt(&self, variation: Variation) -> Result<Tried> {
        let attributes = self.base.attributes();
        let problem = match variation {
            _ if self.budget.is_spent() => return Ok(Tried::NoTime),
            Variation::Without(at) => self.base.recoded(at, &vec![0; attributes[at].codes()]),
            Variation::Coarser(at) => match attributes[at].coarser() {
                Some(coarser) => self.base.recoded(at, &coarser.codes),
                None => return Ok(Tried::Nothing),
            },
            Variation::SmallerK(k) => {
                let other = Request { k: Some(k), ..self.request.clone() };
                Problem::new(self.table, self.roles, &other)?
            }
            Variation::MoreSuppressed => match self.more_suppressed()? {
                Some(problem) => problem,
                None => return Ok(Tried::Nothing),
            },
        };
        let found = self.search(&problem)?;
        Ok(found.map_or(Tried::NoTime, |found| Tried::Found(Box::new(found))))
    }

    /// The problem with one percent more of the rows to suppress; none where rules forbid it, or
    /// where that is not one row.
    fn more_suppressed(&self) -> Result<Option<Problem>> {
        let Some(more) = one_percent_more(self.request)? else { return Ok(None) };
        let mut other = self.request.clone();
        other.limits.suppress = Some(Share(more));
        match Problem::new(self.table, self.roles, &other) {
            Ok(problem) if problem.allowance() > self.base.allowance() => Ok(Some(problem)),
            Ok(_) => Ok(None),
            // All rows, or a rule such as t-closeness that no row may be suppressed with.
            Err(error) if error.kind() == ErrorKind::Request => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn found(problem: &Problem, recoding: Recoding) -> Found {
    let suppressed = partition::rows(recoding.suppressed());
    let (out, rows) = (real(suppressed), real(problem.row_count()));
    // Suppressed rows are counted in full there.
    let lost = loss(problem, &recoding).by_attribute;
    let columns = problem.attributes().iter().zip(lost);
    let columns = columns.map(|(attribute, lost)| {
        let weight = attribute.weight;
        ((lost - weight * out).max(0.0), weight * (rows - out))
    });
    Found { columns: columns.collect(), suppressed, recoding }
}

pub(super) fn explained(
    table: &Table,
    roles: &Roles,
    request: &Request,
    cancel: &Cancel,
    mut warnings: Vec<Warning>,
) -> Result<Explanation> {
    let problem = Problem::new(table, roles, request)?;
    warnings.extend_from_slice(problem.warnings());
    let algorithm =
        if problem.tuples() <= FEW_TUPLES { Algorithm::TopDown } else { Algorithm::Mondrian };
    let time = request.time()?.unwrap_or(USUAL_TIME);
    let usual = SearchOptions::new(algorithm, 1).suppression_price;
    let price = request.suppression_price()?.unwrap_or(usual);
    let budget = Budget::new(Some(time), cancel.search_flag());
    let base = &problem;
    let quick = Quick { table, roles, request, base, algorithm, price, budget, cancel };
    let no_time = || {
        let reason = "the time was over before the first search had ended";
        Error::exhausted("no-time", reason).hint(Hint::MoreTime)
    };
    let found = quick.search(&problem)?.ok_or_else(no_time)?;
    let width = problem.attributes().len();
    let each = || 0..if width > 1 { width } else { 0 };
    let smaller = request.k.and_then(smaller);
    let variations: Vec<Variation> = each()
        .map(Variation::Without)
        .chain(smaller.map(Variation::SmallerK))
        .chain([Variation::MoreSuppressed])
        .chain(each().map(Variation::Coarser))
        .collect();
    let tried: Vec<Tried> =
        variations.par_iter().map(|&one| quick.attempt(one)).collect::<Result<_>>()?;
    let of = |variation: Variation| {
        let at = variations.iter().position(|&one| one == variation)?;
        tried[at].found()
    };
    let smaller_k =
        smaller.and_then(|k| Some(SmallerK { k, loss: of(Variation::SmallerK(k))?.without(None) }));
    let allowed = one_percent_more(request)?.map_or(0.0, Ratio::to_f64);
    let suppression = of(Variation::MoreSuppressed).map(|found| SuppressedShare {
        allowed,
        suppressed: found.suppressed,
        loss: found.without(None),
    });
    let all: Vec<usize> = (0..width).collect();
    let whole: f64 = found.columns.iter().map(|column| column.0).sum();
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let cost = |&at: &usize| {
        let attribute = &problem.attributes()[at];
        let others: Vec<usize> = all.iter().copied().filter(|&other| other != at).collect();
        let others_then = |found: &Found| found.without(Some(at));
        let coarser = of(Variation::Coarser(at)).zip(attribute.coarser());
        ColumnCost {
            name: attribute.name.clone(),
            loss: share(found.columns[at].0, found.columns[at].1),
            part: share(found.columns[at].0, whole),
            others: found.without(Some(at)),
            others_without: of(Variation::Without(at)).map(others_then),
            coarser: coarser.map(|(found, coarser)| CoarserColumn {
                to: super::coarser_words(coarser.by),
                others: others_then(found),
            }),
            unique_alone: unique_share(&problem, &[at]),
            unique_without: if others.is_empty() { 0.0 } else { unique_share(&problem, &others) },
        }
    };
    let mut columns: Vec<ColumnCost> = all.par_iter().map(cost).collect();
    columns.sort_by(|one, other| other.part.total_cmp(&one.part));
    Ok(Explanation {
        rows: problem.row_count(),
        is_of_persons: problem.whole_persons().is_some(),
        k: problem.k(),
        algorithm,
        loss: found.without(None),
        unique: unique_share(&problem, &all),
        columns,
        smaller_k,
        suppression,
        costly: costly(&problem, &found),
        is_complete: !tried.iter().any(|tried| matches!(tried, Tried::NoTime)),
        warnings,
    })
}

/// The next smaller k that people choose.
fn smaller(k: u64) -> Option<u64> {
    USUAL_K.into_iter().rev().find(|&usual| usual < k)
}

/// The share that may be suppressed, and one percent.
fn one_percent_more(request: &Request) -> Result<Option<Ratio>> {
    let now = request.suppress()?;
    let (num, den) = (u128::from(now.num()), u128::from(now.den()));
    let whole = |number: u128| u64::try_from(number).ok();
    let more = whole(num * 100 + den).zip(whole(den * 100));
    Ok(more.and_then(|(num, den)| Ratio::new(num, den)))
}

/// The fewest published rows that carry half of the loss.
fn costly(problem: &Problem, found: &Found) -> CostlyRows {
    let recoding = &found.recoding;
    let of_class = |class: usize| {
        let losses = problem.attributes().iter().zip(recoding.ranges(class));
        let row: f64 =
            losses.map(|(attribute, &range)| attribute.weight * attribute.loss(range)).sum();
        (row, partition::rows(recoding.classes().class(class)))
    };
    let mut classes: Vec<(f64, u64)> = (0..recoding.classes().len()).map(of_class).collect();
    classes.sort_by(|one, other| other.0.total_cmp(&one.0));
    let half: f64 = classes.iter().map(|(row, rows)| row * real(*rows)).sum::<f64>() / 2.0;
    let (mut carried, mut rows) = (0.0, 0);
    for (row, number) in classes {
        if carried >= half * (1.0 - 1e-12) || row <= 0.0 {
            break;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row count")]
        let needed = ((half - carried) / row).ceil() as u64;
        rows += needed.min(number);
        carried += row * real(number);
    }
    CostlyRows { rows, share: real(rows) / real(problem.row_count().max(1)) }
}

#[allow(clippy::cast_precision_loss, reason = "there are fewer than 2^53 rows")]
fn real(rows: u64) -> f64 {
    rows as f64
}
