//! The domain of a whole table, apart from its rows: what its values mean and cost.
//!
//! A part of the table under the domain of the whole
//! ([`Problem::within`](crate::Problem::within)) has the codes, losses and distributions of the
//! whole, so that parts can be solved one by one and put together.

mod stored;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use self::stored::StoredDomain;
use super::attribute::{Attribute, Domain, Ordered, Unit};
use super::encode::{self, ColumnSpec};
use super::parse::{DAY, TimeScale, instant, number, respelt, spelling};
use super::scheme::Scheme;
use super::taxonomy::Taxonomy;
use crate::codes::{Code, RowId};
use crate::error::{Error, Result};
use crate::request::{ColumnRequest, Distance, Kind, Request};
use crate::table::Coded;

/// The distinct values of a column, and how many rows of the table have each: what an engine finds
/// in one pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueCounts {
    /// The column's name.
    pub name: String,
    /// Each value, none for the missing one, with its number of rows, at least 1.
    pub values: Vec<(Option<String>, u64)>,
    /// The time zone of the column's type, if it has one.
    pub zone: Option<String>,
}

/// Everything that a problem takes from the whole table: order, hierarchy, loss and scheme of each
/// quasi-identifier, and the distribution of each sensitive column under a rule.
///
/// It is made by [`TableDomain::new`] or [`TableDomain::of`], belongs to the request it was made
/// with, and can be stored in any format of serde, exactly. It has values of the table: it must be
/// kept as secret as the table.
///
/// # Example
/// ```
/// use lookalike::domain::{TableDomain, ValueCounts};
/// use lookalike::{Problem, Request, table, table::Treatment};
///
/// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// let roles = request.roles(&["age".to_string()])?;
/// let values = [20, 30, 40, 60].map(|age| (Some(age.to_string()), 2)).to_vec();
/// let ages = ValueCounts { name: "age".into(), values, zone: None };
/// let whole = TableDomain::new(&[ages], &roles, &request)?;
/// assert_eq!(whole.rows(), 8);
///
/// let part = table::open_text("age\n20\n20\n30\n".into(), "part".as_ref())?;
/// let problem = Problem::within(&whole, &part.read(&[Treatment::Code])?, &roles, &request)?;
/// // A quarter of the ages of the whole table, not all ages of the part.
/// assert_eq!(problem.attributes()[0].loss(problem.attributes()[0].cover(
///     lookalike::codes::CodeRange { lo: 0, hi: 1 })), 0.25);
/// # Ok::<(), lookalike::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "StoredDomain", into = "StoredDomain")]
pub struct TableDomain {
    rows: u64,
    quasi: Vec<QuasiDomain>,
    sensitive: Vec<SensitiveDomain>,
}

/// The domain of a quasi-identifier.
#[derive(Clone, Debug, PartialEq)]
pub struct QuasiDomain {
    /// Its values with order, hierarchy and weight.
    pub attribute: Attribute,
    /// The partitions of its values that a global recoding may choose.
    pub scheme: Scheme,
}

/// The domain of a sensitive column under a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct SensitiveDomain {
    pub(crate) name: String,
    /// The distance that the codes are in order for: by value, by tree, or by text.
    pub(crate) distance: Distance,
    /// The kind in which texts are spellings of one value.
    pub(crate) kind: Kind,
    /// The code of each value in its one spelling; the missing value is empty.
    pub(crate) codes: FxHashMap<String, Code>,
    /// Texts that mean "missing".
    pub(crate) missing: Vec<String>,
    pub(crate) taxonomy: Option<Taxonomy>,
    /// The rows of the whole table with each code.
    pub(crate) totals: Vec<u64>,
}

impl TableDomain {
    /// The parts together. Panics when the totals of a column are not those of so many rows.
    pub(crate) fn from_parts(
        rows: u64,
        quasi: Vec<QuasiDomain>,
        sensitive: Vec<SensitiveDomain>,
    ) -> TableDomain {
        let is_whole = |column: &SensitiveDomain| column.totals.iter().sum::<u64>() == rows;
        assert!(sensitive.iter().all(is_whole), "every row has a value in every column");
        TableDomain { rows, quasi, sensitive }
    }

    /// Reads a domain that [`to_json`](TableDomain::to_json) wrote.
    ///
    /// # Errors
    /// [`Request`](crate::ErrorKind::Request) when the text is no domain. It has values of the
    /// table, so the error does not say where.
    pub fn from_json(text: &str) -> Result<TableDomain> {
        let reason = "this is no domain of a table, or it is damaged: make it anew";
        serde_json::from_str(text).map_err(|_| Error::request("not-a-domain", reason))
    }

    /// The domain as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("its numbers are texts and its keys are names")
    }

    /// The number of rows of the whole table.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The quasi-identifiers, in the table's order.
    pub fn quasi(&self) -> &[QuasiDomain] {
        &self.quasi
    }

    /// The sensitive columns under a rule.
    pub fn sensitive(&self) -> &[SensitiveDomain] {
        &self.sensitive
    }

    /// Gives every quasi-identifier of a request the kind that it has in the whole table, where the
    /// request does not say: a part alone may look like another.
    pub(crate) fn settle_kinds(&self, request: &mut Request) {
        for column in &self.quasi {
            let kind = match column.attribute.domain.unit() {
                None => Kind::Categorical,
                Some(Unit::Whole | Unit::Decimal) => Kind::Numeric,
                Some(Unit::Day | Unit::Second) => Kind::Date,
                Some(Unit::Place) => continue,
            };
            let open = |line: &&mut ColumnRequest| {
                line.kind.is_none() && line.order.is_none() && line.hierarchy.is_none()
            };
            let line = request.columns.get_mut(&column.attribute.name).filter(open);
            line.into_iter().for_each(|line| line.kind = Some(kind));
        }
    }

    /// The quasi-identifier of that name.
    ///
    /// # Errors
    /// When the domain was made for others.
    pub(crate) fn quasi_of(&self, name: &str) -> Result<&QuasiDomain> {
        let found = self.quasi.iter().find(|column| column.attribute.name == name);
        found.ok_or_else(|| not_of_domain(name))
    }

    /// The sensitive column of that name, with codes for rules that measure by this distance.
    ///
    /// # Errors
    /// When the domain was made for other rules.
    pub(crate) fn sensitive_of(&self, name: &str, distance: Distance) -> Result<&SensitiveDomain> {
        let is_it = |column: &&SensitiveDomain| column.name == name && column.distance == distance;
        self.sensitive.iter().find(is_it).ok_or_else(|| not_of_domain(name))
    }
}

fn not_of_domain(name: &str) -> Error {
    let reason = format!(
        "the domain was made for another request: it does not have column `{name}` under these \
         rules; make it anew"
    );
    Error::request("other-domain", reason).about_column(name)
}

impl QuasiDomain {
    /// The code of each value of a column's dictionary.
    ///
    /// # Errors
    /// [`Data`](crate::ErrorKind::Data) with the data row of a value that the domain does not have.
    pub(crate) fn codes(&self, coded: &Coded, request: &Request) -> Result<Vec<Code>> {
        let name = &self.attribute.name;
        let values = encode::present(ColumnSpec::new(name, request), coded);
        let codes = match &self.attribute.domain {
            Domain::Tree(tree) => tree.codes(&values),
            Domain::Ordered(ordered) => {
                let places: FxHashMap<&str, usize> = match ordered.unit() {
                    Unit::Place => ordered.texts().iter().map(String::as_str).zip(0..).collect(),
                    _ => FxHashMap::default(),
                };
                let place = |value: &Option<String>| match value {
                    None => ordered.has_missing().then_some(ordered.values().len()),
                    Some(text) if ordered.unit() == Unit::Place => {
                        places.get(text.as_str()).copied()
                    }
                    Some(text) => place_of(ordered, text),
                };
                let code = |place| Code::try_from(place).expect("codes have 32 bits");
                values.iter().map(|value| place(value).map(code)).collect()
            }
        };
        all_in_domain(name, codes, coded.first_row())
    }
}

impl SensitiveDomain {
    /// The column's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Each value that occurs, none for the missing one, with its rows in the whole table. Numbers
    /// and times may be in other spellings than in the table.
    pub fn values(&self) -> Vec<(Option<String>, u64)> {
        let by_code: BTreeMap<Code, &str> =
            self.codes.iter().map(|(text, &code)| (code, text.as_str())).collect();
        let codes = (0..).take(self.totals.len());
        let texts: Vec<Option<&str>> = codes.map(|code| by_code.get(&code).copied()).collect();
        let value = |(code, text): (Code, &Option<&str>)| match (&self.taxonomy, text) {
            (Some(tree), _) => Some(tree.leaf_label(code).to_string()),
            (None, text) => text.map(|text| respelt(self.kind, text)),
        };
        let values = (0..).zip(&texts).map(value).map(|text| text.filter(|text| !text.is_empty()));
        values.zip(self.totals.iter().copied()).filter(|&(_, rows)| rows > 0).collect()
    }

    /// The rows of the whole table with each of its values, in the order of their codes.
    pub fn totals(&self) -> &[u64] {
        &self.totals
    }

    /// The code of each value of a column's dictionary.
    ///
    /// # Errors
    /// [`Data`](crate::ErrorKind::Data) with the data row of a value that the domain does not have.
    pub(crate) fn codes(&self, coded: &Coded, request: &Request) -> Result<Vec<Code>> {
        let values = encode::present(ColumnSpec::new(&self.name, request), coded);
        let spelt = |text: &Option<String>| {
            text.as_ref().map_or(String::new(), |text| spelling(self.kind, text))
        };
        let codes = values.iter().map(|value| self.codes.get(&spelt(value)).copied()).collect();
        all_in_domain(&self.name, codes, coded.first_row())
    }
}

fn all_in_domain(name: &str, codes: Vec<Option<Code>>, first_row: &[RowId]) -> Result<Vec<Code>> {
    let absent = codes.iter().zip(first_row).filter(|(code, _)| code.is_none());
    if let Some(row) = absent.map(|(_, &row)| u64::from(row)).min() {
        let reason = "the domain of the whole table does not have the value; make the domain anew \
                      from all rows";
        return Err(Error::data("not-in-domain", reason).at_row(name, row));
    }
    Ok(codes.into_iter().flatten().collect())
}

/// The place of a number or instant among ordered values.
fn place_of(ordered: &Ordered, text: &str) -> Option<usize> {
    let (kind, value) = match ordered.unit() {
        Unit::Whole | Unit::Decimal => (Kind::Numeric, number(text)?),
        Unit::Day => match instant(text)? {
            (TimeScale::Days, days) => (Kind::Date, days),
            (TimeScale::Seconds, _) => return None,
        },
        Unit::Second => match instant(text)? {
            (TimeScale::Days, days) => (Kind::Date, days * DAY),
            (TimeScale::Seconds, seconds) => (Kind::Date, seconds),
        },
        Unit::Place => return None,
    };
    let place = ordered.values().partition_point(|&other| other < value);
    // Two numbers that become equal as floating-point numbers are not one value.
    let is_it = ordered.values().get(place).is_some_and(|&other| other <= value)
        && spelling(kind, text) == spelling(kind, &ordered.texts()[place]);
    is_it.then_some(place)
}
