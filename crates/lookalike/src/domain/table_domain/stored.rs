//! The stored form of a domain. It has no invariants; whoever reads one gets a domain that keeps
//! them all, or an error.
//!
//! Floating-point numbers are stored as their shortest texts: not every JSON reader gives the same
//! number back, and JSON has none for infinity.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{QuasiDomain, SensitiveDomain, TableDomain, place_of};
use crate::codes::Code;
use crate::domain::attribute::{Attribute, Domain, Ordered, Unit};
use crate::domain::hierarchy::IntervalTree;
use crate::domain::taxonomy::{Node, Taxonomy};
use crate::request::{Distance, Kind};

/// The greatest number of rows whose distributions are compared exactly.
const MOST_ROWS: u64 = 1 << 48;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredDomain {
    version: u32,
    rows: u64,
    quasi: Vec<StoredQuasi>,
    sensitive: Vec<StoredSensitive>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct StoredQuasi {
    name: String,
    weight: ExactNumber,
    scheme: String,
    values: StoredValues,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum StoredValues {
    Ordered(StoredOrdered),
    Tree(StoredTree),
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct StoredOrdered {
    unit: Unit,
    values: Vec<ExactNumber>,
    texts: Vec<String>,
    missing: bool,
    intervals: Option<StoredIntervals>,
    snap: bool,
    zone: Option<String>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct StoredIntervals {
    tree: StoredTree,
    ends: Vec<(ExactNumber, ExactNumber)>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct StoredTree {
    leaves: usize,
    labels: Vec<String>,
    parents: Vec<Node>,
    levels: Vec<u32>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct StoredSensitive {
    name: String,
    distance: Distance,
    kind: Kind,
    codes: BTreeMap<String, Code>,
    missing: Vec<String>,
    tree: Option<StoredTree>,
    totals: Vec<u64>,
}

/// A floating-point number as text.
struct ExactNumber(f64);

impl Serialize for ExactNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ExactNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ExactNumber, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.parse::<f64>() {
            Ok(number) if !number.is_nan() => Ok(ExactNumber(number)),
            _ => Err(D::Error::custom("a number of a domain is a text such as \"12.5\"")),
        }
    }
}

impl From<TableDomain> for StoredDomain {
    fn from(domain: TableDomain) -> StoredDomain {
        StoredDomain {
            version: 1,
            rows: domain.rows,
            quasi: domain.quasi.into_iter().map(StoredQuasi::from).collect(),
            sensitive: domain.sensitive.into_iter().map(StoredSensitive::from).collect(),
        }
    }
}

impl From<QuasiDomain> for StoredQuasi {
    fn from(QuasiDomain { attribute, scheme }: QuasiDomain) -> StoredQuasi {
        let values = match attribute.domain {
            Domain::Tree(tree) => StoredValues::Tree(StoredTree::from(&tree)),
            Domain::Ordered(ordered) => StoredValues::Ordered(StoredOrdered {
                unit: ordered.unit(),
                values: ordered.values().iter().copied().map(ExactNumber).collect(),
                texts: ordered.texts().to_vec(),
                missing: ordered.has_missing(),
                intervals: ordered.intervals().map(StoredIntervals::from),
                snap: ordered.snaps(),
                zone: ordered.zone().map(String::from),
            }),
        };
        let weight = ExactNumber(attribute.weight);
        StoredQuasi { name: attribute.name, weight, scheme: scheme.to_string(), values }
    }
}

impl From<&IntervalTree> for StoredIntervals {
    fn from(tree: &IntervalTree) -> StoredIntervals {
        let ends = (0..).take(tree.taxonomy().nodes()).map(|node| tree.ends(node));
        StoredIntervals {
            tree: StoredTree::from(tree.taxonomy()),
            ends: ends.map(|(lo, hi)| (ExactNumber(lo), ExactNumber(hi))).collect(),
        }
    }
}

impl From<&Taxonomy> for StoredTree {
    fn from(tree: &Taxonomy) -> StoredTree {
        let (labels, parents, levels) = tree.parts();
        StoredTree {
            leaves: tree.leaves(),
            labels: labels.to_vec(),
            parents: parents.to_vec(),
            levels: levels.to_vec(),
        }
    }
}

impl From<SensitiveDomain> for StoredSensitive {
    fn from(column: SensitiveDomain) -> StoredSensitive {
        StoredSensitive {
            name: column.name,
            distance: column.distance,
            kind: column.kind,
            codes: column.codes.into_iter().collect(),
            missing: column.missing,
            tree: column.taxonomy.as_ref().map(StoredTree::from),
            totals: column.totals,
        }
    }
}

/// Why a stored domain is none.
type Damage = String;

impl TryFrom<StoredDomain> for TableDomain {
    type Error = Damage;

    fn try_from(stored: StoredDomain) -> Result<TableDomain, Damage> {
        let StoredDomain { version, rows, quasi, sensitive } = stored;
        if version != 1 {
            return Err(format!("version {version} of a domain is unknown"));
        }
        if rows == 0 || rows > MOST_ROWS {
            return Err("the domain has no rows, or too many".into());
        }
        let quasi = quasi.into_iter().map(QuasiDomain::try_from).collect::<Result<_, _>>()?;
        let sensitive: Vec<SensitiveDomain> =
            sensitive.into_iter().map(SensitiveDomain::try_from).collect::<Result<_, _>>()?;
        let total = |column: &SensitiveDomain| {
            column.totals.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count))
        };
        match sensitive.iter().find(|column| total(column) != Some(rows)) {
            Some(column) => Err(damage(&column.name, "its totals are not those of all rows")),
            None => Ok(TableDomain { rows, quasi, sensitive }),
        }
    }
}

fn damage(name: &str, why: &str) -> Damage {
    format!("the domain is damaged: column `{name}`: {why}")
}

impl TryFrom<StoredQuasi> for QuasiDomain {
    type Error = Damage;

    fn try_from(stored: StoredQuasi) -> Result<QuasiDomain, Damage> {
        let StoredQuasi { name, weight: ExactNumber(weight), scheme, values } = stored;
        let damaged = |why: &str| damage(&name, why);
        if !(0.0..=1e9).contains(&weight) {
            return Err(damaged("its weight is not from 0 to 1000000000"));
        }
        let scheme = scheme.parse().map_err(|_| damaged("there is no such scheme"))?;
        let domain = match values {
            StoredValues::Tree(tree) => Domain::Tree(tree.build().map_err(damaged)?),
            StoredValues::Ordered(ordered) => Domain::Ordered(ordered.build().map_err(damaged)?),
        };
        Ok(QuasiDomain { attribute: Attribute { name, weight, domain }, scheme })
    }
}

impl StoredTree {
    fn build(self) -> Result<Taxonomy, &'static str> {
        Taxonomy::from_parts(self.leaves, self.labels, self.parents, self.levels)
    }
}

impl StoredOrdered {
    fn build(self) -> Result<Ordered, &'static str> {
        let values: Vec<f64> = self.values.into_iter().map(|ExactNumber(value)| value).collect();
        if values.len() != self.texts.len()
            || !values.windows(2).all(|pair| pair[0] < pair[1])
            || !values.iter().all(|value| value.is_finite())
        {
            return Err("its values do not rise, or not each has a text");
        }
        if u32::try_from(values.len()).is_err()
            || (values.is_empty() && !self.missing)
            || matches!((values.first(), values.last()), (Some(a), Some(z)) if !(z - a).is_finite())
        {
            return Err("it has no values, too many, or a range that is too large");
        }
        let tree = self.intervals.map(|intervals| intervals.build(&values)).transpose()?;
        let mut ordered = Ordered::new(values, self.texts, self.unit)
            .with_missing(self.missing)
            .with_intervals(tree, self.snap);
        ordered.set_zone(self.zone);
        let is_read = |(place, text): (usize, &String)| match self.unit {
            Unit::Place => true,
            _ => place_of(&ordered, text) == Some(place),
        };
        if !ordered.texts().iter().enumerate().all(is_read) {
            return Err("the text of a value means another value");
        }
        let is_whole = |value: &f64| value.fract() == 0.0 && value.abs() < 9e15;
        if self.unit == Unit::Whole && !ordered.values().iter().all(is_whole) {
            return Err("a value is no whole number");
        }
        let mut texts: Vec<&String> = ordered.texts().iter().collect();
        texts.sort_unstable();
        if texts.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("two values have the same text");
        }
        Ok(ordered)
    }
}

impl StoredIntervals {
    fn build(self, values: &[f64]) -> Result<IntervalTree, &'static str> {
        let tree = self.tree.build()?;
        let ends: Vec<(f64, f64)> =
            self.ends.into_iter().map(|(ExactNumber(lo), ExactNumber(hi))| (lo, hi)).collect();
        if ends.len() != tree.nodes() || tree.leaves() != values.len().max(1) {
            return Err("its intervals are not those of its values");
        }
        let is_leaf = |(value, &(lo, hi)): (&f64, &(f64, f64))| lo <= *value && *value <= hi;
        let is_inside = |(node, &(lo, hi)): (Node, &(f64, f64))| {
            let (least, greatest) = ends[tree.parent(node).unwrap_or(node) as usize];
            least <= lo && lo <= hi && hi <= greatest
        };
        if !values.iter().zip(&ends).all(is_leaf) || !(0..).zip(&ends).all(is_inside) {
            return Err("an interval is not inside the one above it");
        }
        Ok(IntervalTree::from_parts(tree, ends))
    }
}

impl TryFrom<StoredSensitive> for SensitiveDomain {
    type Error = Damage;

    fn try_from(stored: StoredSensitive) -> Result<SensitiveDomain, Damage> {
        let StoredSensitive { name, distance, kind, codes, missing, tree, totals } = stored;
        let damaged = |why: &str| damage(&name, why);
        let taxonomy = tree.map(StoredTree::build).transpose().map_err(damaged)?;
        if taxonomy.is_some() != (distance == Distance::Hierarchical)
            || taxonomy.as_ref().is_some_and(|tree| tree.leaves() != totals.len())
        {
            return Err(damaged("its tree does not fit its values"));
        }
        if codes.values().any(|&code| code as usize >= totals.len()) {
            return Err(damaged("a code is beyond its values"));
        }
        let codes = codes.into_iter().collect();
        Ok(SensitiveDomain { name, distance, kind, codes, missing, taxonomy, totals })
    }
}
