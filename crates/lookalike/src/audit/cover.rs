//! Which released cell covers which original value, column by column.
//!
//! Every label is read once, against the dictionary of the source: it becomes "everything", a range
//! of ranks (numbers, dates, ordinal labels) or a list of values. A test then takes two comparisons
//! or a binary search.

use rustc_hash::FxHashMap;

use super::path::{AuditHierarchy, open};
use super::reading::present;
use super::released_cell::{Interval, ReleasedCell, ValueScale, interval, members, scale};
use crate::codes::Codes;
use crate::error::Result;
use crate::request::ColumnRequest;
use crate::table::Coded;

/// The coverage of one column: cells of the release by values of the source.
#[derive(Debug)]
pub(super) struct Cover {
    pub(super) cells: Vec<Covered>,
    /// For each value its rank; [`UNRANKED`] when it is missing or has no place on the scale.
    pub(super) rank: Vec<u32>,
    /// All answers, a bit each, cell by cell; empty when they would be too many.
    answers: Vec<u64>,
}

/// The most answers that are computed beforehand: two megabytes.
const ANSWERS: usize = 1 << 24;

/// What a cell covers.
#[derive(Clone, Debug, Default)]
pub(super) struct Covered {
    pub(super) everything: bool,
    /// Ranks from `lo` to below `hi`.
    pub(super) lo: u32,
    pub(super) hi: u32,
    /// Further values, ascending.
    pub(super) list: Vec<u32>,
}

impl Covered {
    fn tidy(&mut self) {
        self.list.sort_unstable();
        self.list.dedup();
    }
}

/// The rank of a value without a place on the scale.
pub(super) const UNRANKED: u32 = u32::MAX;

/// The values of one column of the source, by place, by rank and by label.
struct Dictionary<'a> {
    scale: ValueScale<'a>,
    /// The different places of the values, ascending: a value's rank is its place's index here.
    places: Vec<i128>,
    rank: Vec<u32>,
    /// Rank and code of every ranked value, ascending.
    by_rank: Vec<(u32, u32)>,
    missing: Vec<u32>,
    /// For every label the values that it covers.
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
        let hierarchy = column.hierarchy.as_ref();
        let hierarchy = hierarchy
            .map(|hierarchy| open(hierarchy, values.iter().copied().flatten()))
            .transpose()?;
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
        if let Some(AuditHierarchy::File(lines)) = &hierarchy {
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

    fn read(&self, cell: ReleasedCell<'_>, spellings: &[String]) -> Covered {
        let mut covered = Covered::default();
        match cell {
            ReleasedCell::Label(text) => match present(text, spellings) {
                None => covered.list.clone_from(&self.missing),
                Some("*") => covered.everything = true,
                Some(text) => {
                    if let Some(interval) = interval(text, self.scale) {
                        (covered.lo, covered.hi) = self.ranks(interval);
                    }
                    // A text in braces is a set, even where a value is written so: such a value is
                    // then the member of a set of one.
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
            ReleasedCell::Bounds { min, max, missing } => {
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
                    // Top and bottom coding: a value is there, and has no limit on one side.
                    (Some("no"), (min, max)) if min.is_some() != max.is_some() => {
                        let place = |end: &str| self.scale.place(end);
                        let (lo, hi) = (min.map(place), max.map(place));
                        if lo != Some(None) && hi != Some(None) {
                            let (lo, hi) = (lo.flatten(), hi.flatten());
                            (covered.lo, covered.hi) =
                                self.ranks(Interval { lo, hi, closed: true });
                        }
                    }
                    // One bound alone, or bounds of a value that is said to be missing: covers
                    // nothing.
                    _ => {}
                }
            }
        }
        covered.tidy();
        covered
    }

    /// The values that a text names by itself: its own spelling, or another spelling of the same
    /// number or instant.
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
pub(crate) fn first_uncovered(
    values: &[(Option<String>, u32)],
    labels: &[&str],
    column: &ColumnRequest,
    spellings: &[String],
) -> Result<Option<usize>> {
    let texts = values.iter().map(|(text, _)| text.clone()).collect();
    let source = Coded::from_parts(texts, Vec::new(), Codes::new());
    let cells: Vec<ReleasedCell> =
        labels.iter().map(|&label| ReleasedCell::Label(Some(label))).collect();
    let cover = Cover::new(&source, &cells, column, spellings)?;
    Ok((0..)
        .zip(values)
        .find(|&(value, &(_, label))| !cover.covers(label, value))
        .map(|(value, _)| value as usize))
}

impl Cover {
    pub(super) fn new(
        source: &Coded,
        cells: &[ReleasedCell<'_>],
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

    /// For each of the `cells` the rows of the `values` (code and count, ascending by code) that it
    /// covers, and for each value whether any cell covers it.
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
