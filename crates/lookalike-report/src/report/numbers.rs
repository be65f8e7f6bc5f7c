//! The numbers of a report, as plain data. What an edition may disclose is decided here; page and
//! JSON only write it down.

use std::path::Path;

use lookalike::Request;
use lookalike::audit::{CountUnit, Finding, Measures, RuleVerdict, Verdict};
use lookalike::evaluate::query::Detail;
use lookalike::evaluate::uniqueness::UniqueRows;
use lookalike::problem::bound::Bound;
use lookalike::request::{ColumnRequest, Roles};
use lookalike::table::DistinctCount;

use super::TableNames;
use super::accuracy::{self, ConditionErrors};
use super::caveats::{self, Caveat};
use super::counts::{CountPolicy, SourceCount};
use super::examples::Examples;
use super::loss::{LossNumbers, loss_numbers};
use super::persons::{self, PersonNumbers};
use super::purpose::PurposeNumbers;
use super::record::Record;
use super::risk::RiskPair;
use crate::words::{CLASSES, has_rule, ratio, rule_line};
use lookalike::numbers::{count, counted};

/// The measurements that a report is made of.
#[derive(Debug)]
pub(super) struct ReportInput<'a> {
    pub(super) verdict: Verdict,
    /// The classes of the source.
    pub(super) before: Measures,
    /// None when the cells of the release cannot be read.
    pub(super) columns: Option<Vec<Detail>>,
    /// By the number of conditions; empty without queries.
    pub(super) errors: Vec<ConditionErrors>,
    pub(super) bound: Option<Bound>,
    /// Unique rows of the release; none when no column is published unchanged.
    pub(super) unique: Option<UniqueRows>,
    pub(super) quasi: Vec<String>,
    pub(super) roles: Roles,
    /// Columns that may identify persons.
    pub(super) counted: Vec<DistinctCount>,
    pub(super) request: &'a Request,
}

/// The numbers and texts of the page.
#[derive(Debug)]
pub(super) struct ReportNumbers {
    pub(super) policy: CountPolicy,
    pub(super) holds: bool,
    /// The verdict in two sentences.
    pub(super) verdict: String,
    pub(super) rules: Vec<RuleVerdict>,
    pub(super) rule_lines: Vec<String>,
    /// The checks against the source: mark and sentence.
    pub(super) truth: Vec<(Finding, String)>,
    pub(super) leaks: Vec<String>,
    pub(super) files: (String, String),
    pub(super) k: u64,
    pub(super) quasi: Vec<String>,
    pub(super) source_rows: Option<SourceCount>,
    pub(super) released: u64,
    pub(super) suppressed: SourceCount,
    pub(super) columns: Vec<ColumnLine>,
    pub(super) bands: Vec<Band>,
    pub(super) classes: (Option<SourceCount>, u64),
    pub(super) risk: Vec<RiskLine>,
    /// Attackers, the population, columns; none in the public edition.
    pub(super) risk_measures: Option<RiskPair>,
    /// The share of released cells of quasi-identifiers that cover more than one value.
    pub(super) changed: Option<f64>,
    pub(super) loss: Option<LossNumbers>,
    /// Counted in the release, so it has no secret of the source.
    pub(super) unique: Option<UniqueRows>,
    pub(super) distributions: Vec<Distribution>,
    /// By the number of conditions; empty without queries.
    pub(super) errors: Vec<ConditionErrors>,
    /// None without a purpose and in the public edition.
    pub(super) purpose: Option<PurposeNumbers>,
    pub(super) examples: Examples,
    pub(super) record: Record,
    pub(super) caveats: Vec<Caveat>,
    /// None where rows are counted.
    pub(super) persons: Option<PersonNumbers>,
    /// What class sizes and risk count.
    pub(super) unit: CountUnit,
}

/// The treatment of a column.
#[derive(Debug)]
pub(super) struct ColumnLine {
    pub(super) name: String,
    pub(super) role: &'static str,
    pub(super) how: String,
    /// Of a quasi-identifier: the share of released cells that cover more than one value.
    pub(super) changed: Option<f64>,
    /// Of a quasi-identifier: its mean penalty over the rows of the source.
    pub(super) ncp: Option<f64>,
}

/// Classes of similar size, before and after.
#[derive(Debug)]
pub(super) struct Band {
    pub(super) from: u64,
    pub(super) to: Option<u64>,
    pub(super) before: SourceCount,
    pub(super) after: u64,
}

/// A measure of risk before (none when it must not be disclosed) and after.
#[derive(Debug)]
pub(super) struct RiskLine {
    pub(super) key: &'static str,
    pub(super) what: String,
    pub(super) before: Option<f64>,
    /// The share is below that of k rows.
    pub(super) before_rows: Option<SourceCount>,
    pub(super) after: f64,
    pub(super) after_rows: Option<u64>,
}

/// A distribution before and after.
#[derive(Debug)]
pub(super) struct Distribution {
    pub(super) name: String,
    /// Label, rows of the source, rows of the release by shares.
    pub(super) bins: Vec<(String, SourceCount, f64)>,
    /// Half the sum of the distances of the shares (total variation); none without rows.
    pub(super) distance: Option<f64>,
}

/// Decides what the edition discloses.
pub(super) fn report_numbers(
    found: &ReportInput<'_>,
    policy: CountPolicy,
    names: &TableNames,
) -> ReportNumbers {
    let ReportInput { verdict, before, .. } = found;
    let measures = &verdict.measures;
    let suppressed_rows = before.rows.saturating_sub(verdict.measures.rows);
    let suppressed =
        if suppressed_rows == 0 { SourceCount::Exact(0) } else { policy.count(suppressed_rows) };
    // A hidden count must not follow from a difference.
    let source_rows =
        matches!(suppressed, SourceCount::Exact(_)).then_some(SourceCount::Exact(before.rows));
    let columns = found.columns.as_deref().unwrap_or_default();
    ReportNumbers {
        policy,
        holds: verdict.holds(),
        verdict: sentences(found, suppressed, policy),
        rules: verdict.rules.clone(),
        rule_lines: verdict
            .rules
            .iter()
            .map(|rule| rule_line(rule, &found.quasi, CLASSES))
            .collect(),
        truth: truth(verdict, policy),
        leaks: verdict.leaks.clone(),
        files: (file(&names.source, policy), file(&names.release, policy)),
        k: measures.k,
        quasi: found.quasi.clone(),
        source_rows,
        released: verdict.measures.rows,
        suppressed,
        columns: lines(found, policy),
        bands: bands(before, measures, policy),
        classes: (
            if policy == CountPolicy::Exact {
                Some(SourceCount::Exact(before.classes))
            } else {
                None
            },
            measures.classes,
        ),
        risk: risk(before, measures, policy),
        risk_measures: None,
        changed: (!columns.is_empty()).then(|| {
            ratio(
                columns.iter().map(|column| column.generalized).sum(),
                verdict.measures.rows * columns.len() as u64,
            )
        }),
        loss: (!columns.is_empty() && policy == CountPolicy::Exact)
            .then(|| loss_numbers(columns, found)),
        unique: found.unique.clone(),
        distributions: if policy == CountPolicy::Exact {
            columns.iter().map(distribution).collect()
        } else {
            Vec::new()
        },
        errors: accuracy::rough(&found.errors, policy),
        purpose: None,
        examples: Examples::default(),
        record: Record::default(),
        caveats: caveats::caveats(found, policy),
        persons: verdict.persons.as_ref().map(|persons| persons::numbers(persons, policy)),
        unit: measures.unit(),
    }
}

/// A file as the edition may name it.
fn file(name: &str, policy: CountPolicy) -> String {
    match policy {
        CountPolicy::Exact => name.to_string(),
        CountPolicy::Guarded(_) => Path::new(name)
            .file_name()
            .map_or(String::new(), |name| name.to_string_lossy().into_owned()),
    }
}

fn sentences(found: &ReportInput<'_>, suppressed: SourceCount, policy: CountPolicy) -> String {
    let verdict = &found.verdict;
    let rows = counted(verdict.measures.rows, "row", "rows");
    let suppressed_text = match suppressed {
        SourceCount::Exact(0) => "no row was suppressed".to_string(),
        SourceCount::Exact(1) => "1 row was suppressed".to_string(),
        SourceCount::Below(least) => format!("fewer than {} rows were suppressed", count(least)),
        SourceCount::Exact(some) => format!("{} rows were suppressed", count(some)),
        SourceCount::About(some) => format!("about {} rows were suppressed", count(some)),
    };
    let columns = found.quasi.join(", ");
    if let Some(persons) = verdict.persons.as_ref().filter(|_| verdict.holds()) {
        return persons::sentences(
            persons,
            policy,
            (verdict.measures.k, &columns),
            suppressed_text,
        );
    }
    if verdict.holds() {
        let k = count(verdict.measures.k);
        let others = count(verdict.measures.k.saturating_sub(1));
        format!(
            "This file is {k}-anonymous for {columns}: each of its {rows} is equal to at least \
             {others} others on these columns. The file satisfies every rule of the request, and \
             {suppressed_text}."
        )
    } else {
        let broken = verdict.rules.iter().filter(|rule| rule.violations > 0).count() as u64;
        let rules = match broken {
            0 => "it satisfies every rule, but it is not a correct and complete release of its source"
                .to_string(),
            _ => format!("{} violated", counted(broken, "rule is", "rules are")),
        };
        format!("This file does NOT satisfy the request on {columns}: {rules}. Do not publish it.")
    }
}

/// The checks against the source; their sentences have counts of the source.
fn truth(verdict: &Verdict, policy: CountPolicy) -> Vec<(Finding, String)> {
    let Some(truth) = &verdict.truth else { return Vec::new() };
    match policy {
        CountPolicy::Exact => {
            truth.statements.iter().map(|said| (said.finding, said.text.clone())).collect()
        }
        CountPolicy::Guarded(_) if !truth.holds() => {
            vec![(Finding::Broken, "the file is not a correct release of its source".to_string())]
        }
        CountPolicy::Guarded(_) => {
            let partly = truth.rows_undecided > 0;
            let said = if partly {
                "released rows were compared with the source; for some it was not decided"
            } else {
                "every released row covers a different row of the source"
            };
            vec![(if partly { Finding::Partly } else { Finding::Ok }, said.to_string())]
        }
    }
}

fn lines(found: &ReportInput<'_>, policy: CountPolicy) -> Vec<ColumnLine> {
    let (rows, released) = (found.before.rows, found.verdict.measures.rows);
    let suppressed_rows = rows.saturating_sub(released);
    let mut lines = Vec::new();
    let details = found.columns.as_deref().unwrap_or_default();
    for name in &found.quasi {
        let detail = details.iter().find(|detail| detail.name == *name);
        #[allow(clippy::cast_precision_loss, reason = "for display")]
        let mean = |detail: &Detail| (detail.ncp + suppressed_rows as f64) / rows as f64;
        lines.push(ColumnLine {
            name: name.clone(),
            role: "quasi-identifier",
            how: detail.map_or("cannot be read".to_string(), |detail| detail.kind.to_string()),
            changed: detail.map(|detail| ratio(detail.generalized, released)),
            ncp: detail.filter(|_| policy == CountPolicy::Exact).map(mean),
        });
    }
    let plain = |name: &String, role, how: &str| ColumnLine {
        name: name.clone(),
        role,
        how: how.to_string(),
        changed: None,
        ncp: None,
    };
    let published = |name: &String| {
        let words = found.request.column(name).and_then(ColumnRequest::coarsening_words);
        words.unwrap_or_else(|| "unchanged".to_string())
    };
    for name in &found.roles.sensitive {
        let rule = if has_rule(&found.verdict, name) { "under a rule" } else { "without a rule" };
        lines.push(plain(name, "sensitive", &format!("{}, {rule}", published(name))));
    }
    lines.extend(found.roles.keep.iter().map(|name| plain(name, "kept", &published(name))));
    let hashes = "a keyed hash of each identifier";
    lines.extend(found.roles.hashed.iter().map(|name| plain(name, "identifier", hashes)));
    lines.extend(persons::column_lines(found, policy));
    let counts = "for how many rows each row stands";
    lines.extend(found.roles.count.iter().map(|name| plain(name, "count", counts)));
    if policy == CountPolicy::Exact {
        lines.extend(
            found.roles.dropped.iter().map(|name| plain(name, "dropped", "not in the release")),
        );
    }
    lines
}

/// The bands of both tables, by rows.
fn bands(before: &Measures, after: &Measures, policy: CountPolicy) -> Vec<Band> {
    // Where nobody can count persons in the release, the public edition does not either.
    if after.histogram.is_empty() {
        return Vec::new();
    }
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
        before: policy.count(rows(before, from)),
        after: rows(after, from),
    };
    let bands = ends.into_iter().map(band);
    // A band with a hidden count would disclose that there are rows.
    bands
        .filter(|band| {
            band.after > 0 || !matches!(band.before, SourceCount::Below(_) | SourceCount::Exact(0))
        })
        .collect()
}

fn risk(before: &Measures, after: &Measures, policy: CountPolicy) -> Vec<RiskLine> {
    let rows = |measures: &Measures, one_in: u64| {
        measures.risk.at_risk.iter().find(|at| at.one_in == one_in).map_or(0, |at| at.rows)
    };
    let share = |key, what: String, one_in: u64| {
        let (was, is) = (rows(before, one_in), rows(after, one_in));
        let was = policy.count(was);
        #[allow(clippy::cast_precision_loss, reason = "for display")]
        let before_share = match was {
            // A share of all rows of the source would disclose their number.
            _ if policy != CountPolicy::Exact && before.rows != after.rows => None,
            SourceCount::Exact(rows) | SourceCount::About(rows) => {
                Some((rows as f64 / before.size() as f64).min(1.0))
            }
            SourceCount::Below(_) => None,
        };
        RiskLine {
            key,
            what,
            before: before_share.map(|share| policy.rough(share)),
            before_rows: Some(was),
            after: ratio(is, after.size()),
            after_rows: Some(is),
        }
    };
    let (members, of_one) = persons::words(after.unit());
    // Where nobody can count persons in the release, the public edition does not either.
    let is_known = !after.risk.at_risk.is_empty();
    let uniques = format!("{members} that are unique on these columns");
    let mut lines: Vec<RiskLine> =
        is_known.then(|| share("uniques", uniques, 2)).into_iter().collect();
    // The public edition does not disclose that there are a few unique rows.
    let is_disclosed = policy == CountPolicy::Exact
        || matches!(policy.count(before.uniques), SourceCount::About(_));
    lines.push(RiskLine {
        key: "highest",
        what: format!("highest risk of {of_one}"),
        before: is_disclosed.then_some(before.risk.highest),
        before_rows: None,
        after: after.risk.highest,
        after_rows: None,
    });
    lines.push(RiskLine {
        key: "average",
        what: format!("average risk over all {members}"),
        before: (policy == CountPolicy::Exact).then_some(before.risk.average),
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
        if is_known {
            lines.push(share(key, format!("{members} with a risk above 1/{at}"), at));
        }
    }
    lines
}

fn distribution(column: &Detail) -> Distribution {
    let label = |label: &Option<String>| label.clone().unwrap_or_else(|| "other".to_string());
    let bins: Vec<(String, SourceCount, f64)> = column
        .bins
        .iter()
        .map(|bin| (label(&bin.label), SourceCount::Exact(bin.before), bin.after))
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
    Distribution { name: column.name.clone(), bins, distance }
}
