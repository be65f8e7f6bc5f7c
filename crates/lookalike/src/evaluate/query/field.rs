//! A column that queries use: its domain in the source, and the meaning of released cells in it.
//! The meaning of conditions is in `condition.rs`.

use rustc_hash::FxHashMap;

use super::weigh::{Extent, Grain};
use crate::audit::{
    Interval, ReleasedCell, ValueScale, coded, interval, members, number_at, present,
};
use crate::codes::{Code, CodeRange, real};
use crate::domain::attribute::{Attribute, Domain, Ordered, Unit};
use crate::domain::encode::{self, ColumnSpec};
use crate::domain::label::ANY;
use crate::domain::taxonomy::{Node, Taxonomy};
use crate::error::{Error, Result};
use crate::request::{ColumnRequest, HierarchySpec, Request, Role};
use crate::table::{Coded, Table};

/// A column that some query uses.
#[derive(Debug)]
pub(super) struct QueryField<'a> {
    pub(super) name: &'a str,
    pub(super) form: Form,
    /// For each value of the source's dictionary its code in the domain.
    pub(super) codes: Vec<Code>,
    pub(super) domain: Domain,
    column: Option<&'a ColumnRequest>,
    /// Texts that mean "missing" beside the empty cell.
    pub(super) spellings: &'a [String],
    /// Of an ordered column: the least and the greatest number there may be.
    pub(super) ends: (f64, f64),
    /// Of an ordered column: the ends of the groups of its hierarchy that are not written as
    /// intervals.
    groups: FxHashMap<String, (f64, f64)>,
    /// Of a tree: leaves and inner nodes by label.
    pub(super) leaves: FxHashMap<String, Code>,
    pub(super) inner: FxHashMap<String, Node>,
}

/// How a column is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As ranges, groups or sets: a quasi-identifier.
    Generalized,
    /// Unchanged.
    Exact,
}

/// The values of a released cell of an ordered column, ends as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum WrittenExtent {
    /// The missing value.
    Missing,
    /// Any value, the missing one included.
    Any,
    /// From the first number to the second, both included; an open end is infinite.
    Ends(f64, f64),
}

impl<'a> QueryField<'a> {
    pub(super) fn new(
        name: &'a str,
        source: &Table,
        request: &'a Request,
    ) -> Result<QueryField<'a>> {
        if source.column(name).is_none() {
            return Err(Error::data(
                "table-lacks-column",
                format!("the source has no column `{name}`"),
            )
            .about_column(name));
        }
        let values = coded(source, name)?;
        if values.values().is_empty() {
            return Err(Error::data(
                "no-rows",
                "the source has no rows: there is nothing to query",
            ));
        }
        let column = request.column(name);
        let form = match column.map(|column| column.role) {
            Some(Role::Quasi) => Form::Generalized,
            _ => Form::Exact,
        };
        let spec = ColumnSpec::new(name, request);
        let plain = column.is_none_or(|line| {
            line.kind.is_none() && line.order.is_none() && line.hierarchy.is_none()
        });
        let (domain, codes) = match encode::attribute(spec, values) {
            Ok((Attribute { domain, .. }, codes)) => (domain, codes),
            // A passed-through column without a kind: values that are not all numbers or dates are
            // labels.
            Err(_) if form == Form::Exact && plain => labels(spec, values),
            Err(error) => return Err(error),
        };
        let mut field = QueryField {
            name,
            form,
            codes,
            column,
            spellings: &request.missing,
            ends: (0.0, 0.0),
            groups: FxHashMap::default(),
            leaves: FxHashMap::default(),
            inner: FxHashMap::default(),
            domain,
        };
        match &field.domain {
            Domain::Ordered(ordered) => {
                field.ends = within(field.grain(), ends(ordered));
                field.groups = groups(ordered, column);
            }
            Domain::Tree(tree) => {
                let leaves = tree.range(tree.root()).hi + 1;
                field.leaves =
                    (0..leaves).map(|leaf| (tree.label(leaf).to_string(), leaf)).collect();
                field.inner = (leaves..=tree.root())
                    .map(|node| (tree.label(node).to_string(), node))
                    .collect();
            }
        }
        Ok(field)
    }

    /// True for a column of numbers, which can be summed.
    pub(super) fn is_number(&self) -> bool {
        matches!(self.domain.unit(), Some(Unit::Whole | Unit::Decimal))
    }

    /// The text in a condition of a point of an ordered column: a whole number, day or place.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "points of the domain came from dates and places"
    )]
    pub(super) fn text(&self, point: f64) -> String {
        match self.scale() {
            ValueScale::Order(order) => order.get(point as usize).cloned().unwrap_or_default(),
            ValueScale::Instants => {
                let day =
                    jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().days(point as i64));
                day.map_or(String::new(), |day| day.to_string())
            }
            ValueScale::Numbers | ValueScale::Unordered => point.to_string(),
        }
    }

    /// The extent of each code of the domain: one value.
    pub(super) fn values(&self) -> Vec<Extent> {
        match &self.domain {
            Domain::Ordered(ordered) => {
                let numbers =
                    ordered.values().iter().map(|&number| self.span((number, number), 0.0));
                numbers.chain(ordered.has_missing().then(|| self.span(self.ends, 1.0))).collect()
            }
            Domain::Tree(tree) => (0..=tree.range(tree.root()).hi)
                .map(|leaf| Extent::Leaves(vec![CodeRange::one(leaf)]))
                .collect(),
        }
    }

    /// The extent of a released cell; none when it cannot be read.
    pub(super) fn extent(&self, cell: ReleasedCell<'_>) -> Option<Extent> {
        match &self.domain {
            Domain::Ordered(ordered) => {
                let (ends, missing) = self.line(cell, ordered)?;
                Some(self.span(ends, missing))
                    .filter(|extent| matches!(extent, Extent::Span { lo, hi, .. } if lo <= hi))
            }
            Domain::Tree(tree) => self.tree(cell, tree).map(Extent::Leaves),
        }
    }

    fn grain(&self) -> Grain {
        match self.domain.unit() {
            Some(Unit::Decimal | Unit::Second) => Grain::Length,
            _ => Grain::Points,
        }
    }

    fn span(&self, (lo, hi): (f64, f64), missing: f64) -> Extent {
        Extent::Span { lo, hi, missing, grain: self.grain() }
    }

    pub(super) fn scale(&self) -> ValueScale<'a> {
        match self.domain.unit() {
            Some(Unit::Whole | Unit::Decimal) => ValueScale::Numbers,
            Some(Unit::Day | Unit::Second) => ValueScale::Instants,
            Some(Unit::Place) => ValueScale::Order(
                self.column.and_then(|column| column.order.as_deref()).unwrap_or_default(),
            ),
            None => ValueScale::Unordered,
        }
    }

    /// The number of a place on the scale, in the unit of the column.
    #[allow(clippy::cast_precision_loss, reason = "as the source's own values are read")]
    pub(super) fn number(&self, place: i128) -> Option<f64> {
        const SECOND: i128 = 1_000_000_000;
        let Domain::Ordered(ordered) = &self.domain else { return None };
        Some(match ordered.unit() {
            Unit::Whole | Unit::Decimal => number_at(place)?,
            Unit::Second => place.div_euclid(SECOND) as f64 + place.rem_euclid(SECOND) as f64 / 1e9,
            Unit::Day => {
                place.div_euclid(SECOND * 86_400) as f64
                    + place.rem_euclid(SECOND * 86_400) as f64 / 86_400e9
            }
            Unit::Place => place as f64,
        })
    }

    /// The ends of an interval, in the unit of this column.
    fn ends_of(&self, Interval { lo, hi, closed }: Interval) -> Option<(f64, f64)> {
        let lo = lo.map_or(Some(f64::NEG_INFINITY), |lo| self.number(lo))?;
        let hi = hi.map_or(Some(f64::INFINITY), |hi| self.number(hi))?;
        Some(match (self.grain(), closed) {
            (Grain::Points, false) => (lo.ceil(), hi.ceil() - 1.0),
            (grain, _) => within(grain, (lo, hi)),
        })
    }

    /// The weight of the missing value in a cell that allows any value.
    fn missing_share(ordered: &Ordered) -> f64 {
        if ordered.has_missing() { 1.0 / (real(ordered.values().len() as u64) + 1.0) } else { 0.0 }
    }

    /// The ends of a label: of a group of the hierarchy, an interval, or one value. Open ends
    /// become those of the domain.
    pub(super) fn ends_of_label(&self, text: &str) -> Option<(f64, f64)> {
        let ends = self
            .groups
            .get(text)
            .copied()
            .or_else(|| self.ends_of(interval(text, self.scale())?))?;
        Some(self.closed(ends))
    }

    /// Ends of which open ones become those of the domain.
    fn closed(&self, ends: (f64, f64)) -> (f64, f64) {
        let (least, greatest) = self.ends;
        // The value behind `<20` is below 20: where the domain ends earlier, the label's own end
        // counts.
        match (ends.0.is_finite(), ends.1.is_finite()) {
            (true, true) => within(self.grain(), ends),
            (false, true) => (least.min(ends.1), ends.1),
            (true, false) => (ends.0, greatest.max(ends.0)),
            (false, false) => self.ends,
        }
    }

    /// The ends of a cell of an ordered column, and the share of it that is the missing value.
    fn line(&self, cell: ReleasedCell<'_>, ordered: &Ordered) -> Option<((f64, f64), f64)> {
        let any = || (self.ends, QueryField::missing_share(ordered));
        match cell {
            ReleasedCell::Label(text) => match (present(text, self.spellings), self.form) {
                (None, _) => Some((self.ends, 1.0)),
                (Some(text), Form::Exact) => {
                    let number = self.number(self.scale().place(text)?)?;
                    Some(((number, number), 0.0))
                }
                (Some(ANY), Form::Generalized) => Some(any()),
                (Some(text), Form::Generalized) => Some((self.ends_of_label(text)?, 0.0)),
            },
            ReleasedCell::Bounds { min, max, missing } => {
                match (missing, present(min, self.spellings), present(max, self.spellings)) {
                    (Some("yes") | None, None, None) => Some((self.ends, 1.0)),
                    (Some("maybe"), None, None) => Some(any()),
                    (Some("no"), None, None) | (Some("yes"), ..) => None,
                    (Some("no"), min, max) => {
                        let ends = self.ends_of(self.between(min, max)?)?;
                        Some((self.closed(ends), 0.0))
                    }
                    (Some("maybe") | None, Some(min), Some(max)) => {
                        let ends = self.ends_of(self.between(Some(min), Some(max))?)?;
                        Some((
                            ends,
                            if missing == Some("maybe") {
                                QueryField::missing_share(ordered)
                            } else {
                                0.0
                            },
                        ))
                    }
                    _ => None,
                }
            }
        }
    }

    /// The interval of two bounds, of which one may be open; none when one is not on the scale.
    fn between(&self, min: Option<&str>, max: Option<&str>) -> Option<Interval> {
        let place =
            |text: Option<&str>| text.map_or(Some(None), |text| self.scale().place(text).map(Some));
        Some(Interval { lo: place(min)?, hi: place(max)?, closed: true })
    }

    /// The text of a cell, unless it means missing.
    pub(super) fn present<'t>(&self, text: Option<&'t str>) -> Option<&'t str> {
        present(text, self.spellings)
    }

    /// The values of a cell of an ordered column, ends as written; none when it cannot be read.
    pub(super) fn written(&self, cell: ReleasedCell<'_>) -> Option<WrittenExtent> {
        let ends = |Interval { lo, hi, .. }: Interval| {
            let lo = lo.map_or(Some(f64::NEG_INFINITY), |lo| self.number(lo))?;
            Some(WrittenExtent::Ends(lo, hi.map_or(Some(f64::INFINITY), |hi| self.number(hi))?))
        };
        match cell {
            ReleasedCell::Label(text) => match self.present(text) {
                None => Some(WrittenExtent::Missing),
                Some(ANY) => Some(WrittenExtent::Any),
                Some(text) => match self.groups.get(text) {
                    Some(&(lo, hi)) => Some(WrittenExtent::Ends(lo, hi)),
                    None => ends(interval(text, self.scale())?),
                },
            },
            ReleasedCell::Bounds { missing: Some("maybe"), .. } => Some(WrittenExtent::Any),
            ReleasedCell::Bounds { min, max, missing } => {
                match (missing, self.present(min), self.present(max)) {
                    (_, Some(min), Some(max)) => ends(self.between(Some(min), Some(max))?),
                    (Some("no"), min, max) if min.or(max).is_some() => {
                        ends(self.between(min, max)?)
                    }
                    _ => Some(WrittenExtent::Missing),
                }
            }
        }
    }

    /// The leaves of a cell of a tree.
    fn tree(&self, cell: ReleasedCell<'_>, tree: &Taxonomy) -> Option<Vec<CodeRange>> {
        let ReleasedCell::Label(text) = cell else { return None };
        let Some(text) = text.filter(|text| present(Some(text), self.spellings).is_some()) else {
            return self.leaf("").map(|leaf| vec![CodeRange::one(leaf)]);
        };
        let leaf = || self.leaf(text).map(|leaf| vec![CodeRange::one(leaf)]);
        if self.form == Form::Exact {
            return leaf();
        }
        // A text in braces is a set, even where a value is written so.
        self.set(text, tree).or_else(leaf).or_else(|| {
            let node = self.inner.get(text).copied().or_else(|| (text == ANY).then(|| tree.root()));
            node.map(|node| vec![tree.range(node)])
        })
    }

    /// The values and nodes of a set, each leaf once.
    fn set(&self, text: &str, tree: &Taxonomy) -> Option<Vec<CodeRange>> {
        let range = |member: Option<String>| {
            let member = member.as_deref().unwrap_or_default();
            self.leaf(member)
                .map(CodeRange::one)
                .or_else(|| self.inner.get(member).map(|&node| tree.range(node)))
        };
        let mut ranges: Vec<CodeRange> =
            members(text)?.into_iter().map(range).collect::<Option<_>>()?;
        ranges.sort_unstable_by_key(|range| (range.lo, std::cmp::Reverse(range.hi)));
        // Of two nodes one lies in the other, or they have nothing in common.
        ranges.dedup_by(|later, earlier| later.hi <= earlier.hi);
        Some(ranges)
    }

    /// The leaf of a value; the missing value is the leaf without a label.
    pub(super) fn leaf(&self, text: &str) -> Option<Code> {
        let label = if present(Some(text), self.spellings).is_none() { "" } else { text };
        self.leaves.get(label).copied()
    }
}

/// The outermost points within the ends.
fn within(grain: Grain, (lo, hi): (f64, f64)) -> (f64, f64) {
    match grain {
        Grain::Points => (lo.ceil(), hi.floor()),
        Grain::Length => (lo, hi),
    }
}

/// A column of labels without a hierarchy.
fn labels(spec: ColumnSpec<'_>, values: &Coded) -> (Domain, Vec<Code>) {
    let texts = encode::present(spec, values);
    let mut leaves: Vec<String> =
        texts.iter().map(|text| text.clone().unwrap_or_default()).collect();
    leaves.sort_unstable();
    leaves.dedup();
    let tree = Taxonomy::flat(leaves, ANY);
    let codes = encode::leaf_codes(&tree, &texts);
    (Domain::Tree(tree), codes)
}

/// The least and the greatest number of the domain: of the hierarchy's leaves if it names them,
/// else of the source.
fn ends(ordered: &Ordered) -> (f64, f64) {
    let root = ordered.intervals().map(|tree| tree.ends(tree.taxonomy().root()));
    let values = ordered.values().first().copied().zip(ordered.values().last().copied());
    root.filter(|(lo, hi)| lo.is_finite() && hi.is_finite()).or(values).unwrap_or((0.0, 0.0))
}

/// The groups of listed values or a calendar; intervals are read as intervals.
fn groups(ordered: &Ordered, column: Option<&ColumnRequest>) -> FxHashMap<String, (f64, f64)> {
    let has_labels = |hierarchy: &&HierarchySpec| {
        hierarchy.lists_values() || matches!(hierarchy, HierarchySpec::Date(_))
    };
    let labelled = column.and_then(|column| column.hierarchy.as_ref()).filter(has_labels);
    match (ordered.intervals(), labelled) {
        (Some(intervals), Some(_)) => {
            let tree = intervals.taxonomy();
            let inner = tree.range(tree.root()).hi + 1..=tree.root();
            inner.map(|node| (tree.label(node).to_string(), intervals.ends(node))).collect()
        }
        _ => FxHashMap::default(),
    }
}
