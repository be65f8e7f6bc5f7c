//! Which released cell covers which original value, column by column.
//!
//! Every label is read once, against the dictionary of the source: it becomes "everything", a range
//! of ranks (numbers, dates, ordinal labels) or a list of values. A test is then two comparisons or
//! a binary search.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::classes::Fold;
use super::coded;
use super::path::{Hierarchy, open};
use super::reading::{place_of_instant, place_of_number, present};
use super::surface::Shown;
use crate::codes::Codes;
use crate::error::Result;
use crate::request::{ColumnRequest, HierarchySpec, Kind};
use crate::table::{Coded, Table};

/// What one row of the release shows of a quasi-identifier.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'a> {
    Label(Option<&'a str>),
    Bounds {
        min: Option<&'a str>,
        max: Option<&'a str>,
        /// `no`, `yes` or `maybe`; none where the release has no such column.
        missing: Option<&'a str>,
    },
}

/// For each released row which cell it shows of a quasi-identifier, and these cells.
pub(crate) fn cells<'a>(
    shown: &Shown,
    release: &'a Table,
) -> Result<(Cow<'a, Codes>, Vec<Cell<'a>>)> {
    match shown {
        Shown::Label(name) => {
            let labels = coded(release, name)?;
            let cells = labels.values().iter().map(|label| Cell::Label(label.as_deref()));
            Ok((Cow::Borrowed(labels.codes()), cells.collect()))
        }
        Shown::Bounds { min, max, missing, .. } => {
            let min = coded(release, min)?;
            let max = coded(release, max)?;
            let missing = missing.as_ref().map(|missing| coded(release, missing)).transpose()?;
            let mut fold = Fold::new(release.rows());
            let columns = [Some(min), Some(max), missing].into_iter().flatten();
            fold.refine(
                &columns
                    .map(|column| (column.values().len(), |row: usize| column.codes().get(row)))
                    .collect::<Vec<_>>(),
            );
            let classes = fold.finish();
            let cells = classes.first.iter().map(|&row| {
                let text = |column: &'a Coded| {
                    column.values()[column.codes().get(row as usize) as usize].as_deref()
                };
                Cell::Bounds {
                    min: text(min),
                    max: text(max),
                    missing: missing.map(|missing| text(missing).unwrap_or_default()),
                }
            });
            let cells = cells.collect();
            Ok((Cow::Owned(classes.of.into_iter().collect()), cells))
        }
    }
}

/// The coverage of one column: cells of the release by values of the source.
#[derive(Debug)]
pub(super) struct Cover {
    cells: Vec<Covered>,
    /// For each value its rank; [`UNRANKED`] when it is missing or has no place on the scale.
    rank: Vec<u32>,
    /// All answers, a bit each, cell by cell; empty when they would be too many.
    answers: Vec<u64>,
}

/// How many answers are written down beforehand: two megabytes of them.
const ANSWERS: usize = 1 << 24;

#[derive(Clone, Debug, Default)]
struct Covered {
    everything: bool,
    /// Ranks from `lo` to below `hi`.
    lo: u32,
    hi: u32,
    /// Further values, ascending.
    list: Vec<u32>,
}

impl Covered {
    fn tidy(&mut self) {
        self.list.sort_unstable();
        self.list.dedup();
    }
}

const UNRANKED: u32 = u32::MAX;

/// How the values of a column are ordered, so that an interval can be read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scale<'a> {
    Numbers,
    /// Nanoseconds since 1970.
    Instants,
    /// Places in this order.
    Order(&'a [String]),
    Unordered,
}

impl Scale<'_> {
    pub(crate) fn place(self, text: &str) -> Option<i128> {
        match self {
            Scale::Numbers => place_of_number(text),
            Scale::Instants => place_of_instant(text),
            Scale::Order(labels) => {
                labels.iter().position(|label| label == text).and_then(|at| i128::try_from(at).ok())
            }
            Scale::Unordered => None,
        }
    }
}

fn scale<'a>(values: &[Option<&str>], column: &'a ColumnRequest) -> Scale<'a> {
    let all =
        |place: fn(&str) -> Option<i128>| values.iter().flatten().all(|text| place(text).is_some());
    // Digits behind a leading zero are a code: 02139 is not 2139.
    let is_code = |text: &&str| {
        text.len() > 1 && text.starts_with('0') && text.chars().all(|c| c.is_ascii_digit())
    };
    let codes = values.iter().flatten().any(is_code);
    match (column.kind, &column.order, &column.hierarchy) {
        (Some(Kind::Numeric), ..) => Scale::Numbers,
        (Some(Kind::Date), ..) => Scale::Instants,
        (Some(Kind::Categorical), ..) => Scale::Unordered,
        (_, Some(order), _) => Scale::Order(order),
        (Some(Kind::Ordinal), ..) | (_, _, Some(HierarchySpec::Prefix(_))) => Scale::Unordered,
        (_, _, Some(HierarchySpec::Intervals(_))) => Scale::Numbers,
        (_, _, Some(HierarchySpec::Date(_))) => Scale::Instants,
        _ if !codes && all(place_of_number) => Scale::Numbers,
        _ if all(place_of_instant) => Scale::Instants,
        _ => Scale::Unordered,
    }
}

/// Places from `lo` to `hi`; an absent end is open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) lo: Option<i128>,
    pub(crate) hi: Option<i128>,
    pub(crate) closed: bool,
}

/// Reads `[20-30]`, `[20-30)`, `[-5 .. 5]`, `<20`, `>=80`, or a single value of the scale.
pub(crate) fn interval(text: &str, scale: Scale<'_>) -> Option<Interval> {
    if let Some(place) = scale.place(text) {
        return Some(Interval { lo: Some(place), hi: Some(place), closed: true });
    }
    if let Some(end) = text.strip_prefix('<') {
        return scale.place(end).map(|hi| Interval { lo: None, hi: Some(hi), closed: false });
    }
    if let Some(end) = text.strip_prefix(">=") {
        return scale.place(end).map(|lo| Interval { lo: Some(lo), hi: None, closed: true });
    }
    let inside = text.strip_prefix('[')?;
    let (inside, closed) = match inside.strip_suffix(']') {
        Some(inside) => (inside, true),
        None => (inside.strip_suffix(')')?, false),
    };
    let separator = if inside.contains(" .. ") { " .. " } else { "-" };
    let mut readings = inside.match_indices(separator).filter_map(|(at, _)| {
        let lo = scale.place(&inside[..at])?;
        let hi = scale.place(&inside[at + separator.len()..])?;
        (lo <= hi).then_some(Interval { lo: Some(lo), hi: Some(hi), closed })
    });
    // A label that can be read in two ways says nothing.
    readings.next().filter(|_| readings.next().is_none())
}

/// Reads `{a, b, "c,d"}`, with or without the blanks; the member `""` is the missing value.
pub(crate) fn members(text: &str) -> Option<Vec<Option<String>>> {
    let mut rest = text.strip_prefix('{')?.strip_suffix('}')?;
    let mut all = Vec::new();
    loop {
        let (member, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let mut end = quoted.find('"')?;
                while quoted[end + 1..].starts_with('"') {
                    end += 2 + quoted[end + 2..].find('"')?;
                }
                (quoted[..end].replace("\"\"", "\""), &quoted[end + 1..])
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (Some(rest[..end].to_string()).filter(|member| !member.is_empty())?, &rest[end..])
            }
        };
        all.push(Some(member).filter(|member| !member.is_empty()));
        if after.is_empty() {
            return Some(all);
        }
        let next = after.strip_prefix(',')?;
        rest = next.strip_prefix(' ').unwrap_or(next);
    }
}

/// Everything that is known about the values of one column of the source.
struct Dictionary<'a> {
    scale: Scale<'a>,
    /// The different places of the values, ascending: a value's rank is its place's index here.
    places: Vec<i128>,
    rank: Vec<u32>,
    /// Rank and code of every ranked value, ascending.
    by_rank: Vec<(u32, u32)>,
    missing: Vec<u32>,
    /// For every text that may stand for values, these values.
    by_label: FxHashMap<String, Vec<u32>>,
}

impl<'a> Dictionary<'a> {
    fn new(
        source: &Coded,
        column: &'a ColumnRequest,
        spellings: &[String],
    ) -> Result<Dictionary<'a>> {
        let values: Vec<Option<&str>> =
            source.values().iter().map(|value| present(value.as_deref(), spellings)).collect();
        let scale = scale(&values, column);
        let place: Vec<Option<i128>> =
            values.iter().map(|value| value.and_then(|text| scale.place(text))).collect();
        let mut places: Vec<i128> = place.iter().flatten().copied().collect();
        places.sort_unstable();
        places.dedup();
        let rank_of =
            |place: i128| u32::try_from(places.partition_point(|&p| p < place)).unwrap_or(UNRANKED);
        let rank: Vec<u32> = place.iter().map(|place| place.map_or(UNRANKED, rank_of)).collect();
        let mut by_rank: Vec<(u32, u32)> =
            rank.iter().copied().zip(0..).filter(|&(rank, _)| rank != UNRANKED).collect();
        by_rank.sort_unstable();
        let missing =
            (0..).zip(&values).filter(|(_, value)| value.is_none()).map(|(code, _)| code).collect();
        let hierarchy = column.hierarchy.as_ref().map(open).transpose()?;
        let mut by_label: FxHashMap<String, Vec<u32>> = FxHashMap::default();
        for (code, text) in (0..).zip(&values).filter_map(|(code, value)| Some((code, (*value)?))) {
            let labels = hierarchy.iter().flat_map(|hierarchy| hierarchy.labels(text));
            for label in std::iter::once(text.to_string()).chain(labels) {
                let codes = by_label.entry(label).or_default();
                if codes.last() != Some(&code) {
                    codes.push(code);
                }
            }
        }
        let mut dictionary = Dictionary { scale, places, rank, by_rank, missing, by_label };
        if let Some(Hierarchy::File(lines)) = &hierarchy {
            // Without a line of its own the missing value is a leaf beside the others: only the
            // root stands above it.
            let above = lines.find_missing(spellings).map(|at| lines.lines[at].1.clone());
            for label in
                above.unwrap_or_else(|| lines.root().map(str::to_string).into_iter().collect())
            {
                dictionary
                    .by_label
                    .entry(label)
                    .or_default()
                    .extend_from_slice(&dictionary.missing);
            }
        }
        Ok(dictionary)
    }

    fn ranks(&self, interval: Interval) -> (u32, u32) {
        let below = |place: i128, with: bool| {
            self.places.partition_point(|&p| p < place || (with && p == place))
        };
        let lo = interval.lo.map_or(0, |lo| below(lo, false));
        let hi = interval.hi.map_or(self.places.len(), |hi| below(hi, interval.closed));
        (u32::try_from(lo).unwrap_or(UNRANKED), u32::try_from(hi).unwrap_or(UNRANKED))
    }

    fn read(&self, cell: Cell<'_>, spellings: &[String]) -> Covered {
        let mut covered = Covered::default();
        match cell {
            Cell::Label(text) => match present(text, spellings) {
                None => covered.list.clone_from(&self.missing),
                Some("*") => covered.everything = true,
                Some(text) => {
                    if let Some(interval) = interval(text, self.scale) {
                        (covered.lo, covered.hi) = self.ranks(interval);
                    }
                    // What stands in braces is a set, also where a value is written so: that is
                    // then a member of a set of one.
                    let Some(set) = members(text) else {
                        covered.list.extend(self.by_label.get(text).into_iter().flatten());
                        covered.tidy();
                        return covered;
                    };
                    for member in set {
                        match member.as_deref().and_then(|member| present(Some(member), spellings))
                        {
                            None => covered.list.extend(&self.missing),
                            Some(text) => covered.list.extend(self.same(text)),
                        }
                    }
                }
            },
            Cell::Bounds { min, max, missing } => {
                let ends = (present(min, spellings), present(max, spellings));
                match (missing, ends) {
                    (Some("yes") | None, (None, None)) => covered.list.clone_from(&self.missing),
                    (Some("maybe"), (None, None)) => covered.everything = true,
                    (Some("no" | "maybe") | None, (Some(min), Some(max))) => {
                        if let (Some(lo), Some(hi)) = (self.scale.place(min), self.scale.place(max))
                        {
                            (covered.lo, covered.hi) =
                                self.ranks(Interval { lo: Some(lo), hi: Some(hi), closed: true });
                        }
                        if missing == Some("maybe") {
                            covered.list.clone_from(&self.missing);
                        }
                    }
                    // Half a pair of bounds, or bounds beside a cell that says there is no value:
                    // covers nothing.
                    _ => {}
                }
            }
        }
        covered.tidy();
        covered
    }

    /// The values that a text names alone: its own spelling, or another spelling of the same number
    /// or instant.
    fn same(&self, text: &str) -> Vec<u32> {
        let spelt = self.by_label.get(text).into_iter().flatten().copied();
        let (lo, hi) = self.scale.place(text).map_or((0, 0), |place| {
            self.ranks(Interval { lo: Some(place), hi: Some(place), closed: true })
        });
        let from = self.by_rank.partition_point(|&(rank, _)| rank < lo);
        self.by_rank[from..]
            .iter()
            .take_while(|&&(rank, _)| rank < hi)
            .map(|&(_, code)| code)
            .chain(spelt)
            .collect()
    }
}

/// The first of the values, each with the number of its label, whose label does not cover it.
pub(crate) fn first_untold(
    values: &[(Option<String>, u32)],
    labels: &[&str],
    column: &ColumnRequest,
    spellings: &[String],
) -> Result<Option<usize>> {
    let texts = values.iter().map(|(text, _)| text.clone()).collect();
    let source = Coded::from_parts(texts, Vec::new(), Codes::new());
    let cells: Vec<Cell> = labels.iter().map(|&label| Cell::Label(Some(label))).collect();
    let cover = Cover::new(&source, &cells, column, spellings)?;
    Ok((0..)
        .zip(values)
        .find(|&(value, &(_, label))| !cover.covers(label, value))
        .map(|(value, _)| value as usize))
}

impl Cover {
    pub(super) fn new(
        source: &Coded,
        cells: &[Cell<'_>],
        column: &ColumnRequest,
        spellings: &[String],
    ) -> Result<Cover> {
        let dictionary = Dictionary::new(source, column, spellings)?;
        let cells: Vec<Covered> =
            cells.iter().map(|&cell| dictionary.read(cell, spellings)).collect();
        let mut cover = Cover { cells, rank: dictionary.rank, answers: Vec::new() };
        let values = cover.rank.len();
        if cover.cells.len().saturating_mul(values) <= ANSWERS {
            let mut answers = vec![0u64; (cover.cells.len() * values).div_ceil(64)];
            for (cell, at) in (0..).zip((0..cover.cells.len()).map(|cell| cell * values)) {
                for value in (0..)
                    .zip(at..at + values)
                    .filter(|(value, _)| cover.test(cell, *value))
                    .map(|(_, bit)| bit)
                {
                    answers[value / 64] |= 1 << (value % 64);
                }
            }
            cover.answers = answers;
        }
        Ok(cover)
    }

    /// True when the released cell covers the original value.
    #[inline]
    pub(super) fn covers(&self, cell: u32, value: u32) -> bool {
        if self.answers.is_empty() {
            return self.test(cell, value);
        }
        let bit = cell as usize * self.rank.len() + value as usize;
        self.answers[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn test(&self, cell: u32, value: u32) -> bool {
        let covered = &self.cells[cell as usize];
        let rank = self.rank[value as usize];
        covered.everything
            || (covered.lo <= rank && rank < covered.hi)
            || covered.list.binary_search(&value).is_ok()
    }

    /// How many of the `values` (code and count, ascending by code) each of the `cells` covers, and
    /// whether each value is covered by any of them.
    pub(super) fn tally(&self, cells: &[u32], values: &[(u32, u64)]) -> (Vec<u64>, Vec<bool>) {
        let mut ranked: Vec<usize> = (0..values.len()).collect();
        ranked.sort_by_key(|&i| self.rank[values[i].0 as usize]);
        let rank = |i: &usize| self.rank[values[*i].0 as usize];
        let mut sums = vec![0];
        for &i in &ranked {
            sums.push(sums[sums.len() - 1] + values[i].1);
        }
        let total = sums[values.len()];
        let mut opened = vec![0i64; values.len() + 1];
        let mut reached = vec![false; values.len()];
        let mut counts = Vec::with_capacity(cells.len());
        for &cell in cells {
            let covered = &self.cells[cell as usize];
            let (from, to) = if covered.everything {
                (0, values.len())
            } else {
                let from = ranked.partition_point(|i| rank(i) < covered.lo);
                (from, ranked.partition_point(|i| rank(i) < covered.hi).max(from))
            };
            opened[from] += 1;
            opened[to] -= 1;
            let mut count = sums[to] - sums[from];
            for &value in &covered.list {
                if let Ok(i) = values.binary_search_by_key(&value, |&(code, _)| code) {
                    reached[i] = true;
                    let counted =
                        covered.everything || (covered.lo..covered.hi).contains(&rank(&i));
                    count += if counted { 0 } else { values[i].1 };
                }
            }
            counts.push(count.min(total));
        }
        let mut open = 0;
        for (at, &i) in ranked.iter().enumerate() {
            open += opened[at];
            reached[i] |= open > 0;
        }
        (counts, reached)
    }
}
