//! A column as queries see it: its domain in the source, and what released cells and conditions
//! mean in it.

use rustc_hash::FxHashMap;

use super::Condition;
use super::weigh::{Grain, Reach, Test};
use crate::audit::{Cell, Interval, Scale, coded, interval, members, number_at, present};
use crate::codes::{Code, CodeRange, real};
use crate::domain::attribute::{ANY, Attribute, Domain, Ordered, Unit};
use crate::domain::encode::{self, ColumnSpec};
use crate::domain::taxonomy::{Node, Taxonomy};
use crate::error::{Error, Result};
use crate::request::{ColumnRequest, HierarchySpec, Request, Role};
use crate::table::{Coded, Table};

/// A column that some query is about.
#[derive(Debug)]
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) form: Form,
    /// For each value of the source's dictionary its code in the domain.
    pub(super) codes: Vec<Code>,
    pub(super) domain: Domain,
    column: Option<&'a ColumnRequest>,
    /// Texts that mean "missing" beside the empty cell.
    spellings: &'a [String],
    /// Of an ordered column: the least and the greatest number there may be.
    pub(super) ends: (f64, f64),
    /// Of an ordered column: the ends of the groups of its hierarchy that are not written as
    /// intervals.
    groups: FxHashMap<String, (f64, f64)>,
    /// Of a tree: leaves and inner nodes by label.
    leaves: FxHashMap<String, Code>,
    inner: FxHashMap<String, Node>,
}

/// How a column stands in the release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A quasi-identifier.
    Generalized,
    /// Published as it is.
    Exact,
}

/// What a cell of an ordered column says, as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Raw {
    /// No value.
    Missing,
    /// Anything at all.
    Any,
    /// From here to there; an open end is infinite.
    Ends(f64, f64),
}

impl<'a> Field<'a> {
    pub(super) fn new(name: &'a str, source: &Table, request: &'a Request) -> Result<Field<'a>> {
        if source.column(name).is_none() {
            return Err(Error::data(format!("the source has no column `{name}`")));
        }
        let values = coded(source, name)?;
        if values.values().is_empty() {
            return Err(Error::data("the source has no rows: there is nothing to ask"));
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
            // Nobody said what a kept column holds: what cannot be numbers or dates throughout are
            // labels.
            Err(_) if form == Form::Exact && plain => labels(spec, values),
            Err(error) => return Err(error),
        };
        let mut field = Field {
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
        matches!(&self.domain, Domain::Ordered(Ordered { unit: Unit::Whole | Unit::Decimal, .. }))
    }

    /// How a point of an ordered column, a whole number, day or place, is written in a condition.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "points of the domain came from dates and places"
    )]
    pub(super) fn text(&self, point: f64) -> String {
        match self.scale() {
            Scale::Order(order) => order.get(point as usize).cloned().unwrap_or_default(),
            Scale::Instants => {
                let day =
                    jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().days(point as i64));
                day.map_or(String::new(), |day| day.to_string())
            }
            Scale::Numbers | Scale::Unordered => point.to_string(),
        }
    }

    /// What each code of the domain says: one value.
    pub(super) fn values(&self) -> Vec<Reach> {
        match &self.domain {
            Domain::Ordered(ordered) => {
                let numbers = ordered.values.iter().map(|&number| self.span((number, number), 0.0));
                numbers.chain(ordered.missing.then(|| self.span(self.ends, 1.0))).collect()
            }
            Domain::Tree(tree) => (0..=tree.range(tree.root()).hi)
                .map(|leaf| Reach::Leaves(vec![CodeRange::one(leaf)]))
                .collect(),
        }
    }

    /// What a released cell says; none when it cannot be read.
    pub(super) fn reach(&self, cell: Cell<'_>) -> Option<Reach> {
        match &self.domain {
            Domain::Ordered(ordered) => {
                let (ends, missing) = self.line(cell, ordered)?;
                Some(self.span(ends, missing))
                    .filter(|reach| matches!(reach, Reach::Span { lo, hi, .. } if lo <= hi))
            }
            Domain::Tree(tree) => self.tree(cell, tree).map(Reach::Leaves),
        }
    }

    fn grain(&self) -> Grain {
        match &self.domain {
            Domain::Ordered(Ordered { unit: Unit::Decimal | Unit::Second, .. }) => Grain::Length,
            _ => Grain::Points,
        }
    }

    fn span(&self, (lo, hi): (f64, f64), missing: f64) -> Reach {
        Reach::Span { lo, hi, missing, grain: self.grain() }
    }

    fn scale(&self) -> Scale<'a> {
        match &self.domain {
            Domain::Ordered(Ordered { unit: Unit::Whole | Unit::Decimal, .. }) => Scale::Numbers,
            Domain::Ordered(Ordered { unit: Unit::Day | Unit::Second, .. }) => Scale::Instants,
            Domain::Ordered(Ordered { unit: Unit::Place, .. }) => Scale::Order(
                self.column.and_then(|column| column.order.as_deref()).unwrap_or_default(),
            ),
            Domain::Tree(_) => Scale::Unordered,
        }
    }

    /// The number of a place on the scale, in the unit of the column.
    #[allow(clippy::cast_precision_loss, reason = "as the source's own values are read")]
    fn number(&self, place: i128) -> Option<f64> {
        const SECOND: i128 = 1_000_000_000;
        let Domain::Ordered(ordered) = &self.domain else { return None };
        Some(match ordered.unit {
            Unit::Whole | Unit::Decimal => number_at(place)?,
            Unit::Second => place.div_euclid(SECOND) as f64 + place.rem_euclid(SECOND) as f64 / 1e9,
            Unit::Day => {
                place.div_euclid(SECOND * 86_400) as f64
                    + place.rem_euclid(SECOND * 86_400) as f64 / 86_400e9
            }
            Unit::Place => place as f64,
        })
    }

    /// The ends that an interval has in this column.
    fn ends_of(&self, Interval { lo, hi, closed }: Interval) -> Option<(f64, f64)> {
        let lo = lo.map_or(Some(f64::NEG_INFINITY), |lo| self.number(lo))?;
        let hi = hi.map_or(Some(f64::INFINITY), |hi| self.number(hi))?;
        Some(match (self.grain(), closed) {
            (Grain::Points, false) => (lo.ceil(), hi.ceil() - 1.0),
            (grain, _) => within(grain, (lo, hi)),
        })
    }

    /// The share of a cell that says anything at all which is the missing value.
    fn missing_share(ordered: &Ordered) -> f64 {
        if ordered.missing { 1.0 / (real(ordered.values.len() as u64) + 1.0) } else { 0.0 }
    }

    /// The ends that a label shows: a group of the hierarchy, an interval, or one value. Open ends
    /// go to those of the domain.
    fn labelled(&self, text: &str) -> Option<(f64, f64)> {
        let ends = self
            .groups
            .get(text)
            .copied()
            .or_else(|| self.ends_of(interval(text, self.scale())?))?;
        let (least, greatest) = self.ends;
        // Whoever shows `<20` has a value below 20: beyond the ends of the domain it is the end of
        // the label itself.
        Some(match (ends.0.is_finite(), ends.1.is_finite()) {
            (true, true) => within(self.grain(), ends),
            (false, true) => (least.min(ends.1), ends.1),
            (true, false) => (ends.0, greatest.max(ends.0)),
            (false, false) => self.ends,
        })
    }

    /// What a cell of an ordered column says: its ends, and the share of it that is the missing
    /// value.
    fn line(&self, cell: Cell<'_>, ordered: &Ordered) -> Option<((f64, f64), f64)> {
        let any = || (self.ends, Field::missing_share(ordered));
        match cell {
            Cell::Label(text) => match (present(text, self.spellings), self.form) {
                (None, _) => Some((self.ends, 1.0)),
                (Some(text), Form::Exact) => {
                    let number = self.number(self.scale().place(text)?)?;
                    Some(((number, number), 0.0))
                }
                (Some(ANY), Form::Generalized) => Some(any()),
                (Some(text), Form::Generalized) => Some((self.labelled(text)?, 0.0)),
            },
            Cell::Bounds { min, max, missing } => {
                match (missing, present(min, self.spellings), present(max, self.spellings)) {
                    (Some("yes") | None, None, None) => Some((self.ends, 1.0)),
                    (Some("maybe"), None, None) => Some(any()),
                    (Some("no" | "maybe") | None, Some(min), Some(max)) => {
                        let place = |text: &str| self.scale().place(text);
                        let ends = self.ends_of(Interval {
                            lo: Some(place(min)?),
                            hi: Some(place(max)?),
                            closed: true,
                        })?;
                        Some((
                            ends,
                            if missing == Some("maybe") {
                                Field::missing_share(ordered)
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

    /// The text of a cell, unless it means missing.
    pub(super) fn present<'t>(&self, text: Option<&'t str>) -> Option<&'t str> {
        present(text, self.spellings)
    }

    /// What a cell of an ordered column says, ends as they are written; none when it cannot be
    /// read.
    pub(super) fn raw(&self, cell: Cell<'_>) -> Option<Raw> {
        let ends = |Interval { lo, hi, .. }: Interval| {
            let lo = lo.map_or(Some(f64::NEG_INFINITY), |lo| self.number(lo))?;
            Some(Raw::Ends(lo, hi.map_or(Some(f64::INFINITY), |hi| self.number(hi))?))
        };
        match cell {
            Cell::Label(text) => match self.present(text) {
                None => Some(Raw::Missing),
                Some(ANY) => Some(Raw::Any),
                Some(text) => match self.groups.get(text) {
                    Some(&(lo, hi)) => Some(Raw::Ends(lo, hi)),
                    None => ends(interval(text, self.scale())?),
                },
            },
            Cell::Bounds { missing: Some("maybe"), .. } => Some(Raw::Any),
            Cell::Bounds { min, max, .. } => match (self.present(min), self.present(max)) {
                (Some(min), Some(max)) => {
                    let place = |text: &str| self.scale().place(text);
                    ends(Interval { lo: Some(place(min)?), hi: Some(place(max)?), closed: true })
                }
                _ => Some(Raw::Missing),
            },
        }
    }

    /// The leaves that a cell of a tree says.
    fn tree(&self, cell: Cell<'_>, tree: &Taxonomy) -> Option<Vec<CodeRange>> {
        let Cell::Label(text) = cell else { return None };
        let Some(text) = text.filter(|text| present(Some(text), self.spellings).is_some()) else {
            return self.leaf("").map(|leaf| vec![CodeRange::one(leaf)]);
        };
        let leaf = || self.leaf(text).map(|leaf| vec![CodeRange::one(leaf)]);
        if self.form == Form::Exact {
            return leaf();
        }
        // What stands in braces is a set, also where a value is written so.
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

    /// The leaf of a value; what means missing is the leaf without a label.
    fn leaf(&self, text: &str) -> Option<Code> {
        let label = if present(Some(text), self.spellings).is_none() { "" } else { text };
        self.leaves.get(label).copied()
    }

    /// What a condition means in this column, or why it means nothing.
    pub(super) fn test(&self, condition: &Condition) -> std::result::Result<Test, String> {
        match &self.domain {
            Domain::Ordered(_) => self.spans(condition),
            Domain::Tree(tree) => self.wanted(condition, tree).map(Test::Leaves),
        }
    }

    fn spans(&self, condition: &Condition) -> std::result::Result<Test, String> {
        let number = |text: &String| {
            let number = self.scale().place(text).and_then(|place| self.number(place));
            number.ok_or_else(|| match self.scale() {
                Scale::Numbers => format!("`{text}` is no number"),
                Scale::Instants => {
                    format!("`{text}` is no date such as 2024-03-17 or 2024-03-17T10:00:00")
                }
                _ => format!("`{text}` is not in the order of the column"),
            })
        };
        let mut missing = false;
        let mut spans: Vec<(f64, f64)> = Vec::new();
        match condition {
            Condition::Range { from, to } => {
                let from = from.as_ref().map_or(Ok(f64::NEG_INFINITY), number)?;
                let to = to.as_ref().map_or(Ok(f64::INFINITY), number)?;
                if from > to {
                    return Err("the range runs backwards: give the lesser end first".to_string());
                }
                spans.push((from, to));
            }
            Condition::Values(values) => {
                for text in values {
                    match present(Some(text), self.spellings) {
                        None => missing = true,
                        Some(_) => spans.push((number(text)?, number(text)?)),
                    }
                }
                spans.sort_by(|a, b| a.0.total_cmp(&b.0));
                // The same number in two spellings is one value.
                spans.dedup_by(|a, b| a.0 <= b.0);
            }
            Condition::Node { node } if node == ANY => {
                missing = true;
                spans.push((f64::NEG_INFINITY, f64::INFINITY));
            }
            Condition::Node { node } => {
                let ends = self.labelled(node).filter(|(lo, hi)| lo <= hi);
                spans.push(ends.ok_or_else(|| {
                    format!("`{node}` is neither a group of the column's hierarchy nor an interval such as [20-29]")
                })?);
            }
        }
        Ok(Test::Spans { spans, missing })
    }

    fn wanted(
        &self,
        condition: &Condition,
        tree: &Taxonomy,
    ) -> std::result::Result<Vec<bool>, String> {
        let mut wanted = vec![false; tree.leaves()];
        match condition {
            Condition::Range { .. } => {
                return Err(
                    "the column is categorical, it has no ranges: name values in quotes, [\"a\", \"b\"], or a group of its \
                            hierarchy, { node = \"...\" }"
                        .to_string(),
                );
            }
            Condition::Values(values) => {
                for text in values {
                    let leaf = self.leaf(text).ok_or_else(|| match text.as_str() {
                        "" => "the column has no missing values".to_string(),
                        text if self.inner.contains_key(text) => {
                            format!("`{text}` is a group of its hierarchy: write {{ node = \"{text}\" }}")
                        }
                        text => format!("there is no value `{text}`, neither in the source nor in a hierarchy of the column"),
                    })?;
                    wanted[leaf as usize] = true;
                }
            }
            Condition::Node { node } => {
                let known = self
                    .inner
                    .get(node)
                    .or_else(|| self.leaves.get(node).filter(|_| !node.is_empty()))
                    .copied();
                let node = known.or_else(|| (node == ANY).then(|| tree.root())).ok_or_else(|| match tree.is_flat() {
                    true => format!("there is no group `{node}`: the column has no hierarchy, its only group is `{ANY}`"),
                    false => format!("there is no group `{node}` in the hierarchy of the column"),
                })?;
                let range = tree.range(node);
                wanted[range.lo as usize..=range.hi as usize].fill(true);
            }
        }
        Ok(wanted)
    }
}

/// The outermost points within the ends.
fn within(grain: Grain, (lo, hi): (f64, f64)) -> (f64, f64) {
    match grain {
        Grain::Points => (lo.ceil(), hi.floor()),
        Grain::Length => (lo, hi),
    }
}

/// A column of labels that nobody gave a tree.
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
    let root = ordered.steps.as_ref().map(|steps| steps.ends[steps.taxonomy.root() as usize]);
    let values = ordered.values.first().copied().zip(ordered.values.last().copied());
    root.filter(|(lo, hi)| lo.is_finite() && hi.is_finite()).or(values).unwrap_or((0.0, 0.0))
}

/// The groups of a hierarchy file or a calendar; intervals are read as intervals.
fn groups(ordered: &Ordered, column: Option<&ColumnRequest>) -> FxHashMap<String, (f64, f64)> {
    match (&ordered.steps, column.and_then(|column| column.hierarchy.as_ref())) {
        (Some(steps), Some(HierarchySpec::File(_) | HierarchySpec::Date(_))) => {
            let tree = &steps.taxonomy;
            let inner = tree.range(tree.root()).hi + 1..=tree.root();
            inner.map(|node| (tree.label(node).to_string(), steps.ends[node as usize])).collect()
        }
        _ => FxHashMap::default(),
    }
}
