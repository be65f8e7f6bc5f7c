//! The rules, each evaluated on one class: from its size and the counts of its sensitive values.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::excerpt::{Case, excerpt, keep};
use super::ground_distance::{Fraction, GroundDistance, distance};
use super::reading::{exact_number, is_missing, place_of_instant, place_of_number};
use super::row_counts::RowCounts;
use super::{CountUnit, RuleVerdict};
use crate::codes::{Code, RowId};
use crate::request::ratio::Ratio;
use crate::request::{
    ColumnRequest, Distance, HierarchySpec, Kind, ModelSpec, Persons, Request, RuleSpec,
};
use crate::table::Coded;

/// The tolerance of entropy l-diversity, relative to ln l: logarithms are rounded, and a class of l
/// equally frequent values must satisfy the rule.
pub const ENTROPY_TOLERANCE: f64 = 1e-9;

/// The distribution of a sensitive column in a whole table, for the audit of a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeDistribution {
    /// The name of the column.
    pub column: String,
    /// Each value, none for the missing one, with its rows in the whole table.
    pub values: Vec<(Option<String>, u64)>,
}

/// A sensitive column; all spellings of one value are one value.
#[derive(Debug)]
pub(super) struct Sensitive<'a> {
    pub(super) coded: &'a Coded,
    pub(super) sameness: Sameness,
    /// For each code of the column the number of its value.
    pub(super) value: Vec<u32>,
    /// The values, each in its first spelling; `None` is the missing value.
    pub(super) values: Vec<Option<String>>,
    pub(super) first_row: Vec<RowId>,
    /// For each value its rows in the whole table.
    pub(super) totals: Vec<u64>,
    pub(super) rows: u64,
}

impl<'a> Sensitive<'a> {
    pub(super) fn new(
        coded: &'a Coded,
        column: &str,
        request: &Request,
        row_counts: &RowCounts<'_>,
    ) -> Sensitive<'a> {
        let missing = &request.missing;
        let texts = || {
            coded
                .values()
                .iter()
                .map(|text| text.as_deref().filter(|text| !is_missing(text, missing)))
        };
        let sameness = sameness(request.column(column), texts().flatten());
        let mut numbers: FxHashMap<Option<Cow<'_, str>>, u32> = FxHashMap::default();
        let (value, values, first_row, totals) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut all = Sensitive { coded, sameness, value, values, first_row, totals, rows: 0 };
        let mut next = 0;
        for (text, &row) in texts().zip(coded.first_row()) {
            let value = *numbers.entry(text.map(|text| sameness.of(text))).or_insert(next);
            if value == next {
                next += 1;
                all.values.push(text.map(str::to_string));
                all.first_row.push(row);
            }
            all.value.push(value);
        }
        all.totals = vec![0; all.values.len()];
        for (row, code) in coded.codes().iter().enumerate() {
            all.totals[all.value[code as usize] as usize] += u64::from(row_counts.of(row));
        }
        all.rows = row_counts.total;
        all
    }

    /// Takes the distribution of the whole table for that of its part. A value that the part has
    /// and the whole has not counts no rows there.
    pub(super) fn compare_with(&mut self, whole: &WholeDistribution, missing: &[String]) {
        let sameness = self.sameness;
        let present =
            |text: &Option<String>| text.clone().filter(|text| !is_missing(text, missing));
        let one = |text: Option<String>| text.map(|text| sameness.of(&text).into_owned());
        let values = self.values.iter().cloned();
        let mut numbers: FxHashMap<Option<String>, usize> = values.map(one).zip(0..).collect();
        self.totals.fill(0);
        self.rows = 0;
        for (text, rows) in &whole.values {
            let number = *numbers.entry(one(present(text))).or_insert_with(|| {
                self.values.push(present(text));
                self.first_row.push(0);
                self.totals.push(0);
                self.values.len() - 1
            });
            self.totals[number] += rows;
            self.rows += rows;
        }
    }

    /// The number of a row's value.
    pub(super) fn of(&self, row: RowId) -> Code {
        self.value[self.coded.codes().get(row as usize) as usize]
    }
}

/// When two texts of a sensitive column are one value: as equal texts, numbers or instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sameness {
    Text,
    Number,
    Instant,
}

/// As the column's line says; the ordered distance takes texts as numbers or instants where the
/// line does not say.
fn sameness<'t>(
    line: Option<&ColumnRequest>,
    mut texts: impl Iterator<Item = &'t str>,
) -> Sameness {
    let Some(line) = line else { return Sameness::Text };
    match (line.kind, &line.order, &line.hierarchy) {
        (Some(Kind::Numeric), ..) | (None, None, Some(HierarchySpec::Intervals(_))) => {
            Sameness::Number
        }
        (Some(Kind::Date), ..) | (None, None, Some(HierarchySpec::Date(_))) => Sameness::Instant,
        (None, None, None) if line.t.is_some() && line.distance == Some(Distance::Ordered) => {
            if texts.all(|text| place_of_number(text).is_some()) {
                Sameness::Number
            } else {
                Sameness::Instant
            }
        }
        _ => Sameness::Text,
    }
}

impl Sameness {
    /// The same text for all spellings of a value.
    fn of(self, text: &str) -> Cow<'_, str> {
        let one = match self {
            Sameness::Text => None,
            Sameness::Number => exact_number(text),
            Sameness::Instant => place_of_instant(text).map(|place| place.to_string()),
        };
        one.map_or(Cow::Borrowed(text), Cow::Owned)
    }
}

/// One class: its size, the count of every value of the column, and the values that it has.
#[derive(Debug)]
pub(super) struct ClassCounts<'a> {
    /// Its rows, or its persons where these are counted.
    pub(super) size: u64,
    /// The counts are shares of this: the size, or the sum of weights.
    pub(super) whole: u64,
    pub(super) counts: &'a [u64],
    pub(super) present: &'a [u32],
    /// Persons with one of the values that alpha names; none where that is the sum of their counts.
    pub(super) named: Option<u64>,
}

impl<'a> ClassCounts<'a> {
    /// A class of rows, each with one value.
    pub(super) fn of_rows(size: u64, counts: &'a [u64], present: &'a [u32]) -> ClassCounts<'a> {
        ClassCounts { size, whole: size, counts, present, named: None }
    }
}

impl ClassCounts<'_> {
    fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        self.present.iter().map(|&value| self.counts[value as usize])
    }

    /// The counts, greatest first.
    fn descending(&self) -> Vec<u64> {
        let mut counts: Vec<u64> = self.counts().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }

    /// The number of values. Where persons have several, the least number of the most frequent
    /// values whose counts add up to the whole: fewer values cannot be those of everybody.
    pub(super) fn distinct(&self) -> u64 {
        if self.counts().sum::<u64>() == self.whole {
            return self.present.len() as u64;
        }
        let mut sum = 0;
        let enough = self.descending().into_iter().position(|count| {
            sum += count;
            sum >= self.whole
        });
        enough.map_or(self.present.len() as u64, |last| last as u64 + 1)
    }

    /// The count of the most frequent value.
    pub(super) fn most(&self) -> u64 {
        self.counts().max().unwrap_or(0)
    }

    /// The entropy, in natural units.
    #[allow(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(super) fn entropy(&self) -> f64 {
        let size = self.whole as f64;
        -self.counts().map(|count| count as f64 / size).map(|share| share * share.ln()).sum::<f64>()
    }
}

/// A rule, and its result so far.
#[derive(Debug)]
pub(super) struct Rule<'a> {
    model: &'a ModelSpec,
    /// For alpha on named values: whether a value is among them.
    named: Vec<bool>,
    ground: GroundDistance,
    verdict: RuleVerdict,
    seen: bool,
    /// The worst classes that break it.
    broken: Vec<Case>,
}

/// The result of a rule on one class.
struct ClassFinding {
    holds: bool,
    case: Case,
    /// True when the first measure is worse than the second.
    worse: fn(f64, f64) -> bool,
}

impl ClassFinding {
    fn counting(mut self, count: u64) -> ClassFinding {
        self.case.count = Some(count);
        self
    }
}

impl<'a> Rule<'a> {
    pub(super) fn new(
        spec: &'a RuleSpec,
        sensitive: Option<&Sensitive<'_>>,
        ground: GroundDistance,
        missing: &[String],
    ) -> Rule<'a> {
        let named = match (&spec.model, sensitive) {
            (ModelSpec::Alpha { values, .. }, Some(sensitive)) if !values.is_empty() => {
                let sameness = sensitive.sameness;
                let is_named = |cell: &Option<String>| {
                    values.iter().any(|value| match cell {
                        None => is_missing(value, missing),
                        Some(cell) => {
                            !is_missing(value, missing) && sameness.of(cell) == sameness.of(value)
                        }
                    })
                };
                sensitive.values.iter().map(is_named).collect()
            }
            _ => Vec::new(),
        };
        let verdict = RuleVerdict {
            rule: in_words(spec),
            sensitive: spec.model.column().cloned(),
            violations: 0,
            rows: 0,
            unit: CountUnit::Rows,
            measure: measure_of(&spec.model),
            worst: 0.0,
            limit: limit_of(&spec.model),
            examples: Vec::new(),
        };
        Rule { model: &spec.model, named, ground, verdict, seen: false, broken: Vec::new() }
    }

    /// Evaluates the rule on a class and notes the result.
    pub(super) fn evaluate(&mut self, class: &ClassCounts<'_>, sensitive: Option<&Sensitive<'_>>) {
        let ClassFinding { holds, case, worse } = self.finding(class, sensitive);
        let verdict = &mut self.verdict;
        if !self.seen || worse(case.measure, verdict.worst) {
            verdict.worst = case.measure;
            self.seen = true;
        }
        if !holds {
            verdict.violations += 1;
            verdict.rows += class.size;
            keep(&mut self.broken, case, worse);
        }
    }

    /// The same rule on persons.
    pub(super) fn of_persons(mut self, reading: Persons) -> Rule<'a> {
        self.verdict.unit = CountUnit::Persons;
        let rule = &self.verdict.rule;
        self.verdict.rule = match (self.model, reading) {
            (ModelSpec::K(_), _) => rule.replacen(" on ", " persons on ", 1),
            (_, Persons::Whole) => format!("{rule}, counting persons"),
            (_, Persons::Rows) => format!("{rule}, rows weighted by person"),
        };
        self
    }

    /// True for a rule on the distribution of the values: a person with several values adds a part
    /// to each of them.
    pub(super) fn needs_distribution(&self) -> bool {
        matches!(self.model, ModelSpec::Entropy { .. } | ModelSpec::Closeness { .. })
    }

    /// For alpha on named values: whether each value is among them.
    pub(super) fn named(&self) -> Option<&[bool]> {
        (!self.named.is_empty()).then_some(&self.named)
    }

    pub(super) fn verdict(self) -> RuleVerdict {
        let unit = self.verdict.unit;
        let examples = self.broken.iter().map(|case| excerpt(self.model, case, unit)).collect();
        RuleVerdict { examples, ..self.verdict }
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "measures are for display; decisions are made in integers"
    )]
    fn finding(&self, class: &ClassCounts<'_>, sensitive: Option<&Sensitive<'_>>) -> ClassFinding {
        let (size, whole) = (class.size, class.whole);
        let case = |measure| Case { classes: 1, size, whole, measure, count: None, tail: None };
        let least =
            |holds, measure| ClassFinding { holds, case: case(measure), worse: |a, b| a < b };
        let greatest =
            |holds, measure| ClassFinding { holds, case: case(measure), worse: |a, b| a > b };
        match self.model {
            ModelSpec::K(k) => least(size >= *k, size as f64),
            ModelSpec::Alpha { alpha, .. } => {
                let named = || class.present.iter().filter(|&&value| self.named[value as usize]);
                let part = match (&*self.named, class.named) {
                    ([], _) => class.most(),
                    (_, Some(persons)) => persons,
                    _ => named().map(|&value| class.counts[value as usize]).sum(),
                };
                greatest(fraction(part, whole).at_most(ratio(*alpha)), part as f64 / whole as f64)
                    .counting(part)
            }
            ModelSpec::Frequency { l, .. } => {
                let most = class.most();
                least(
                    u128::from(most) * u128::from(*l) <= u128::from(whole),
                    whole as f64 / most as f64,
                )
                .counting(most)
            }
            ModelSpec::Distinct { l, .. } => {
                let distinct = class.distinct();
                least(distinct >= *l, distinct as f64)
            }
            ModelSpec::Entropy { l, .. } => {
                let entropy = class.entropy();
                // The last digits depend on the order of the sum: without them, equal counts have
                // equal measures.
                let measure = (entropy.exp() / ENTROPY_TOLERANCE).round() * ENTROPY_TOLERANCE;
                least(entropy >= l.to_f64().ln() * (1.0 - ENTROPY_TOLERANCE), measure)
                    .counting(class.most())
            }
            ModelSpec::Recursive { c, l, .. } => {
                let counts = class.descending();
                let from = usize::try_from(*l - 1).unwrap_or(usize::MAX).min(counts.len());
                // Where each row has one value, this is the sum of the other counts.
                let tail = whole.saturating_sub(counts[..from].iter().sum());
                let below = u128::from(counts[0]) * u128::from(c.den())
                    < u128::from(tail) * u128::from(c.num());
                let mut finding =
                    greatest(below, counts[0] as f64 / tail as f64).counting(counts[0]);
                finding.case.tail = Some(tail);
                finding
            }
            ModelSpec::Closeness { t, .. } => {
                let far = sensitive.map_or(Fraction { num: 0, den: 1 }, |sensitive| {
                    distance(&self.ground, class, sensitive)
                });
                greatest(far.at_most(ratio(*t)), far.to_f64())
            }
        }
    }
}

fn fraction(num: u64, den: u64) -> Fraction {
    Fraction { num: u128::from(num), den: u128::from(den) }
}

fn ratio(ratio: Ratio) -> Fraction {
    fraction(ratio.num(), ratio.den())
}

fn measure_of(model: &ModelSpec) -> &'static str {
    match model {
        ModelSpec::K(_) => "smallest class",
        ModelSpec::Alpha { .. } => "greatest share",
        ModelSpec::Frequency { .. } => "least size over the commonest value",
        ModelSpec::Distinct { .. } => "fewest values",
        ModelSpec::Entropy { .. } => "least effective number of values",
        ModelSpec::Recursive { .. } => "greatest ratio of the commonest value to the tail",
        ModelSpec::Closeness { .. } => "greatest distance",
    }
}

#[allow(clippy::cast_precision_loss, reason = "for display")]
fn limit_of(model: &ModelSpec) -> f64 {
    match model {
        ModelSpec::K(k) => *k as f64,
        ModelSpec::Alpha { alpha, .. } => alpha.to_f64(),
        ModelSpec::Frequency { l, .. } | ModelSpec::Distinct { l, .. } => *l as f64,
        ModelSpec::Entropy { l, .. } => l.to_f64(),
        ModelSpec::Recursive { c, .. } => c.to_f64(),
        ModelSpec::Closeness { t, .. } => t.to_f64(),
    }
}

/// The rule in words, without any value of a cell.
fn in_words(spec: &RuleSpec) -> String {
    match &spec.model {
        ModelSpec::K(k) => format!("k = {k} on {}", spec.columns.join(", ")),
        ModelSpec::Alpha { column, alpha, values } => match values.len() {
            0 => format!("alpha = {} on {column}", written(*alpha)),
            1 => format!("alpha = {} on one value of {column}", written(*alpha)),
            n => format!("alpha = {} on {n} values of {column} together", written(*alpha)),
        },
        ModelSpec::Frequency { column, l } => format!("l = {l} on {column}"),
        ModelSpec::Distinct { column, l } => format!("distinct = {l} on {column}"),
        ModelSpec::Entropy { column, l } => format!("entropy = {} on {column}", written(*l)),
        ModelSpec::Recursive { column, c, l } => {
            format!("recursive c = {}, l = {l} on {column}", written(*c))
        }
        ModelSpec::Closeness { column, t, distance } => {
            let distance = format!("{distance:?}").to_lowercase();
            format!("t = {} on {column}, {distance} distance", written(*t))
        }
    }
}

/// `29/100` as 0.29, `1/3` as 1/3.
pub(super) fn written(ratio: Ratio) -> String {
    let text = ratio.to_string();
    if text.len() <= 8 { text } else { format!("{}/{}", ratio.num(), ratio.den()) }
}
