//! All that a report tells, as plain data: what may be told was decided here, page and JSON only
//! write it down.

use std::path::Path;

use lookalike::audit::{Finding, Measures, RuleVerdict, Verdict};
use lookalike::evaluate::query::{Detail, Summary, certainty};
use lookalike::problem::bound::Bound;
use lookalike::request::Roles;
use lookalike::table::DistinctCount;
use lookalike::{Request, problem::bound::BoundKind};

use super::caveats::{self, Caveat};
use crate::cmd::anonymize::{CLASSES, has_rule, ratio, rule_line};
use crate::show::{count, counted};

/// What was counted.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) verdict: Verdict,
    /// The classes of the source.
    pub(super) before: Measures,
    /// None when the cells of the release cannot be read.
    pub(super) columns: Option<Vec<Detail>>,
    pub(super) errors: Option<Summary>,
    pub(super) bound: Option<Bound>,
    pub(super) quasi: Vec<String>,
    pub(super) roles: Roles,
    /// Columns that may stand for persons.
    pub(super) counted: Vec<DistinctCount>,
    pub(super) request: &'a Request,
}

/// How counts of the source are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// As they are.
    None,
    /// Not below so many, and rounded: with the release beside it an exact count would tell what
    /// single rows hold. For the same reason nothing is told that puts a value of the source beside
    /// what the release shows of it: no loss, which has the length of a column in it, no bound and
    /// no distribution.
    Below(u64),
}

/// Counts are rounded to multiples of k, or of this where k is less: of 2 and 3 rows the half would
/// be exact.
const GRAIN: u64 = 10;

/// A count of rows of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Exact(u64),
    About(u64),
    /// Fewer than that.
    Below(u64),
}

impl Guard {
    pub(super) fn count(self, number: u64) -> Count {
        match self {
            Guard::None => Count::Exact(number),
            Guard::Below(least) if number < least => Count::Below(least),
            Guard::Below(least) => {
                let grain = least.max(GRAIN);
                Count::About(((number + grain / 2) / grain * grain).max(grain))
            }
        }
    }

    /// A share or penalty that depends on the source: two digits for everybody.
    pub(super) fn rough(self, number: f64) -> f64 {
        match self {
            Guard::None => number,
            Guard::Below(_) => digits(number),
        }
    }
}

impl Count {
    /// How long its bar is.
    pub(super) fn length(self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "for display")]
        match self {
            Count::Exact(number) | Count::About(number) => number as f64,
            Count::Below(_) => 0.0,
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Count::Exact(number) => count(number),
            Count::About(number) => format!("≈ {}", count(number)),
            Count::Below(least) => format!("< {}", count(least)),
        }
    }
}

/// Two significant digits.
fn digits(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    let power = 10f64.powf(1.0 - number.abs().log10().floor());
    (number * power).round() / power
}

/// Everything that the page says.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) guard: Guard,
    pub(super) holds: bool,
    /// The verdict in two sentences.
    pub(super) verdict: String,
    pub(super) rules: Vec<RuleVerdict>,
    pub(super) rule_lines: Vec<String>,
    /// What was compared with the source: mark and sentence.
    pub(super) truth: Vec<(Finding, String)>,
    pub(super) leaks: Vec<String>,
    pub(super) files: (String, String),
    pub(super) k: u64,
    pub(super) quasi: Vec<String>,
    pub(super) source_rows: Option<Count>,
    pub(super) released: u64,
    pub(super) suppressed: Count,
    pub(super) columns: Vec<Column>,
    pub(super) bands: Vec<Band>,
    pub(super) classes: (Option<Count>, u64),
    pub(super) risk: Vec<RiskLine>,
    /// The share of released cells of quasi-identifiers that show more than one value.
    pub(super) changed: Option<f64>,
    pub(super) loss: Option<LossTold>,
    pub(super) spreads: Vec<Spread>,
    pub(super) errors: Option<Summary>,
    pub(super) caveats: Vec<Caveat>,
}

/// What became of a column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) role: &'static str,
    pub(super) how: String,
    /// Of a quasi-identifier: the share of released cells that show more than one value.
    pub(super) changed: Option<f64>,
    /// And its mean penalty over the rows of the source.
    pub(super) ncp: Option<f64>,
}

/// Classes of similar size, before and after.
#[derive(Debug)]
pub(super) struct Band {
    pub(super) from: u64,
    pub(super) to: Option<u64>,
    pub(super) before: Count,
    pub(super) after: u64,
}

/// A measure of risk before (none when it may not be told) and after.
#[derive(Debug)]
pub(super) struct RiskLine {
    pub(super) key: &'static str,
    pub(super) what: String,
    pub(super) before: Option<f64>,
    /// The share is below that of k rows.
    pub(super) before_rows: Option<Count>,
    pub(super) after: f64,
    pub(super) after_rows: Option<u64>,
}

/// What was lost.
#[derive(Debug)]
pub(super) struct LossTold {
    pub(super) ncp: f64,
    pub(super) gcp: f64,
    pub(super) costliest: Option<String>,
    pub(super) bound: Option<BoundTold>,
    /// Columns of weight 0, which the loss does not count, and the share of their cells that show
    /// more than one value.
    pub(super) uncounted: Vec<(String, f64)>,
}

#[derive(Debug)]
pub(super) struct BoundTold {
    pub(super) value: f64,
    pub(super) kind: BoundKind,
    pub(super) gap: Option<f64>,
}

/// A distribution before and after.
#[derive(Debug)]
pub(super) struct Spread {
    pub(super) name: String,
    /// Label, rows of the source, rows of the release by shares.
    pub(super) bins: Vec<(String, Count, f64)>,
    /// Half the sum of the distances of the shares; none when nothing may be told.
    pub(super) distance: Option<f64>,
}

/// Decides what is told.
pub(super) fn told(found: &Found<'_>, guard: Guard, files: (&Path, &Path)) -> Told {
    let Found { verdict, before, .. } = found;
    let measures = &verdict.measures;
    let gone = before.rows.saturating_sub(verdict.rows);
    let suppressed = if gone == 0 { Count::Exact(0) } else { guard.count(gone) };
    // What is not told exactly must not follow from a difference.
    let source_rows = matches!(suppressed, Count::Exact(_)).then_some(Count::Exact(before.rows));
    let columns = found.columns.as_deref().unwrap_or_default();
    Told {
        guard,
        holds: verdict.holds(),
        verdict: sentences(found, suppressed),
        rules: verdict.rules.clone(),
        rule_lines: verdict
            .rules
            .iter()
            .map(|rule| rule_line(rule, &found.quasi, CLASSES))
            .collect(),
        truth: truth(verdict, guard),
        leaks: verdict.leaks.clone(),
        files: (file(files.0, guard), file(files.1, guard)),
        k: measures.k,
        quasi: found.quasi.clone(),
        source_rows,
        released: verdict.rows,
        suppressed,
        columns: lines(found, guard),
        bands: bands(before, measures, guard),
        classes: (
            if guard == Guard::None { Some(Count::Exact(before.classes)) } else { None },
            measures.classes,
        ),
        risk: risk(before, measures, guard),
        changed: (!columns.is_empty()).then(|| {
            ratio(
                columns.iter().map(|column| column.generalized).sum(),
                verdict.rows * columns.len() as u64,
            )
        }),
        loss: (!columns.is_empty() && guard == Guard::None).then(|| loss(columns, found)),
        spreads: if guard == Guard::None {
            columns.iter().map(spread).collect()
        } else {
            Vec::new()
        },
        errors: found.errors.as_ref().map(|errors| rough(errors, guard)),
        caveats: caveats::caveats(found, guard),
    }
}

/// A file as the edition may name it.
fn file(path: &Path, guard: Guard) -> String {
    match guard {
        Guard::None => path.display().to_string(),
        Guard::Below(_) => {
            path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned())
        }
    }
}

fn sentences(found: &Found<'_>, suppressed: Count) -> String {
    let verdict = &found.verdict;
    let rows = counted(verdict.rows, "row", "rows");
    let left_out = match suppressed {
        Count::Exact(0) => "no row was left out".to_string(),
        Count::Exact(1) => "1 row was left out".to_string(),
        Count::Below(least) => format!("fewer than {} rows were left out", count(least)),
        Count::Exact(some) => format!("{} rows were left out", count(some)),
        Count::About(some) => format!("about {} rows were left out", count(some)),
    };
    let columns = found.quasi.join(", ");
    if verdict.holds() {
        let k = count(verdict.measures.k);
        let others = count(verdict.measures.k.saturating_sub(1));
        format!(
            "This file is {k}-anonymous for {columns}: each of its {rows} looks like at least {others} others on these columns. Every \
             rule that was asked for holds in the file, and {left_out}."
        )
    } else {
        let broken = verdict.rules.iter().filter(|rule| rule.violations > 0).count() as u64;
        let rules = match broken {
            0 => "every rule holds, but the file is not a true and complete release of its source"
                .to_string(),
            _ => format!("{} broken", counted(broken, "rule is", "rules are")),
        };
        format!(
            "This file does NOT hold what was asked for on {columns}: {rules}. Do not publish it."
        )
    }
}

/// The comparison with the source; its sentences count rows of the source.
fn truth(verdict: &Verdict, guard: Guard) -> Vec<(Finding, String)> {
    let Some(truth) = &verdict.truth else { return Vec::new() };
    match guard {
        Guard::None => {
            truth.statements.iter().map(|said| (said.finding, said.text.clone())).collect()
        }
        Guard::Below(_) if !truth.holds() => {
            vec![(Finding::Broken, "the file is not a true release of its source".to_string())]
        }
        Guard::Below(_) => {
            let partly = truth.rows_only_bounded > 0;
            let said = if partly {
                "released rows were compared with the source, some by necessary conditions only"
            } else {
                "every released row covers a row of the source of its own"
            };
            vec![(if partly { Finding::Partly } else { Finding::Ok }, said.to_string())]
        }
    }
}

fn lines(found: &Found<'_>, guard: Guard) -> Vec<Column> {
    let (rows, released) = (found.before.rows, found.verdict.rows);
    let gone = rows.saturating_sub(released);
    let mut lines = Vec::new();
    let details = found.columns.as_deref().unwrap_or_default();
    for name in &found.quasi {
        let detail = details.iter().find(|detail| detail.name == *name);
        #[allow(clippy::cast_precision_loss, reason = "for display")]
        let mean = |detail: &Detail| (detail.ncp + gone as f64) / rows as f64;
        lines.push(Column {
            name: name.clone(),
            role: "quasi-identifier",
            how: detail.map_or("cannot be read".to_string(), |detail| detail.kind.to_string()),
            changed: detail.map(|detail| ratio(detail.generalized, released)),
            ncp: detail.filter(|_| guard == Guard::None).map(mean),
        });
    }
    let plain = |name: &String, role, how: &str| Column {
        name: name.clone(),
        role,
        how: how.to_string(),
        changed: None,
        ncp: None,
    };
    for name in &found.roles.sensitive {
        let how = if has_rule(&found.verdict, name) {
            "as it is; a rule looks at it"
        } else {
            "as it is; no rule looks at it"
        };
        lines.push(plain(name, "sensitive", how));
    }
    lines.extend(found.roles.keep.iter().map(|name| plain(name, "kept", "as it is")));
    if guard == Guard::None {
        lines.extend(
            found.roles.dropped.iter().map(|name| plain(name, "dropped", "not in the release")),
        );
    }
    lines
}

/// The bands of both tables, by rows.
fn bands(before: &Measures, after: &Measures, guard: Guard) -> Vec<Band> {
    let mut ends: Vec<(u64, Option<u64>)> =
        before.histogram.iter().chain(&after.histogram).map(|band| (band.from, band.to)).collect();
    ends.sort_unstable();
    ends.dedup();
    let rows = |measures: &Measures, from: u64| {
        measures.histogram.iter().find(|band| band.from == from).map_or(0, |band| band.rows)
    };
    let band = |(from, to)| Band {
        from,
        to,
        before: guard.count(rows(before, from)),
        after: rows(after, from),
    };
    let bands = ends.into_iter().map(band);
    // Where there is nothing to tell of, a band would tell that there is something.
    bands
        .filter(|band| band.after > 0 || !matches!(band.before, Count::Below(_) | Count::Exact(0)))
        .collect()
}

fn risk(before: &Measures, after: &Measures, guard: Guard) -> Vec<RiskLine> {
    let rows = |measures: &Measures, one_in: u64| {
        measures.risk.at_risk.iter().find(|at| at.one_in == one_in).map_or(0, |at| at.rows)
    };
    let share = |key, what: String, one_in: u64| {
        let (was, is) = (rows(before, one_in), rows(after, one_in));
        let was = guard.count(was);
        #[allow(clippy::cast_precision_loss, reason = "for display")]
        let before_share = match was {
            // A share of all rows of the source would say how many these are.
            _ if guard != Guard::None && before.rows != after.rows => None,
            Count::Exact(rows) | Count::About(rows) => {
                Some((rows as f64 / before.rows as f64).min(1.0))
            }
            Count::Below(_) => None,
        };
        RiskLine {
            key,
            what,
            before: before_share.map(|share| guard.rough(share)),
            before_rows: Some(was),
            after: ratio(is, after.rows),
            after_rows: Some(is),
        }
    };
    let mut lines = vec![share("uniques", "rows that are unique on these columns".to_string(), 2)];
    // Of few rows it is not told that there are any.
    let is_told = guard == Guard::None || matches!(guard.count(before.uniques), Count::About(_));
    lines.push(RiskLine {
        key: "highest",
        what: "highest risk of a row, if each row is one person".to_string(),
        before: is_told.then_some(before.risk.highest),
        before_rows: None,
        after: after.risk.highest,
        after_rows: None,
    });
    lines.push(RiskLine {
        key: "average",
        what: "average risk over all rows".to_string(),
        before: (guard == Guard::None).then_some(before.risk.average),
        before_rows: None,
        after: after.risk.average,
        after_rows: None,
    });
    for (key, at) in [
        ("above_1_2", 2),
        ("above_1_3", 3),
        ("above_1_5", 5),
        ("above_1_11", 11),
        ("above_1_20", 20),
    ] {
        lines.push(share(key, format!("rows with a risk above 1/{at}"), at));
    }
    lines
}

fn loss(columns: &[Detail], found: &Found<'_>) -> LossTold {
    let lost = certainty(columns, found.before.rows, found.verdict.rows);
    let costliest = columns
        .iter()
        .max_by(|a, b| (a.weight * a.ncp).total_cmp(&(b.weight * b.ncp)))
        .filter(|_| lost.ncp > 0.0);
    let bound = found.bound.as_ref().map(|bound| BoundTold {
        value: bound.value,
        kind: bound.kind,
        gap: bound.gap(lost.ncp),
    });
    let uncounted = columns.iter().filter(|column| column.weight <= 0.0);
    let uncounted = uncounted
        .map(|column| (column.name.clone(), ratio(column.generalized, found.verdict.rows)))
        .collect();
    LossTold {
        ncp: lost.ncp,
        gcp: lost.gcp,
        costliest: costliest.map(|column| column.name.clone()),
        bound,
        uncounted,
    }
}

fn spread(column: &Detail) -> Spread {
    let label = |label: &Option<String>| label.clone().unwrap_or_else(|| "other".to_string());
    let bins: Vec<(String, Count, f64)> = column
        .bins
        .iter()
        .map(|bin| (label(&bin.label), Count::Exact(bin.before), bin.after))
        .collect();
    let (was, is) = bins
        .iter()
        .fold((0.0, 0.0), |(was, is), (_, before, after)| (was + before.length(), is + after));
    let distance = (was > 0.0 && is > 0.0).then(|| {
        bins.iter()
            .map(|(_, before, after)| (before.length() / was - after / is).abs())
            .sum::<f64>()
            / 2.0
    });
    Spread { name: column.name.clone(), bins, distance }
}

fn rough(errors: &Summary, guard: Guard) -> Summary {
    let rough = |error: Option<f64>| error.map(|error| guard.rough(error));
    Summary {
        mean_error: rough(errors.mean_error),
        median_error: rough(errors.median_error),
        p90_error: rough(errors.p90_error),
        mean_absolute: rough(errors.mean_absolute),
        ..errors.clone()
    }
}
