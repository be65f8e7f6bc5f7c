//! The numbers of a finished run.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::audit::{Finding, Verdict};
use crate::codes::real;
use crate::error::Warning;
use crate::evaluate::loss::{GeneralizedShare, Loss};
use crate::evaluate::purpose::PurposeWeight;
use crate::evaluate::uniqueness::UniqueRows;
use crate::numbers::{count, percent};
use crate::problem::bound::{Bound, BoundKind, BoundScope};
use crate::request::Persons;
use crate::search::global::Optimum;
use crate::search::{Algorithm, Status};

use super::watch::Stage;

/// The numbers of a finished run: the release is published and passed the audit.
#[derive(Debug)]
pub struct Report {
    /// The numbers that were known before anything was written.
    pub found: Found,
    /// Text cells that got an apostrophe because they begin like a formula.
    pub guarded: u64,
    /// The audit of the written release. `truth` is there when it was compared with the source.
    pub verdict: Verdict,
    /// The seconds of each stage, in order.
    pub times: Vec<(Stage, f64)>,
}

/// The numbers of a recoding, before anything is written.
#[derive(Debug)]
pub struct Found {
    /// Rows of the table.
    pub rows: u64,
    /// Rows that are not in the release; whole persons, before the release is written.
    pub suppressed: u64,
    /// The persons of the table; none when no column names them.
    pub persons: Option<FoundPersons>,
    /// None when the recoding came from a file.
    pub algorithm: Option<Algorithm>,
    /// How the search ended.
    pub status: Status,
    /// The loss of the release.
    pub loss: Loss,
    /// The loss of the published rows alone, and what suppression did to it.
    pub published: PublishedLoss,
    /// The generalized cells of each quasi-identifier, also of those with weight 0.
    pub generalized: Vec<GeneralizedShare>,
    /// The lower bound on the loss of local recodings.
    pub bound: Option<Bound>,
    /// The rules that the bound knows.
    pub bound_scope: BoundScope,
    /// Cost and bound of a global recoding.
    pub optimum: Option<Optimum>,
    /// The weights of the quasi-identifiers for the purpose of the request; empty without one.
    pub purpose: Vec<PurposeWeight>,
    /// The quasi-identifiers, in the order of the loss by attribute.
    pub quasi: Vec<String>,
    /// Bytes of the coded table.
    pub coded_bytes: usize,
    /// Distinct rows on the columns of the rules.
    pub tuples: usize,
    /// Rows that are unique on the columns published unchanged; none when there are no such
    /// columns.
    pub unique: Option<UniqueRows>,
    /// What the user should know before the release is used.
    pub warnings: Vec<Warning>,
}

/// The loss of the published rows alone: suppressed rows have no part in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PublishedLoss {
    /// The mean loss of a published row, from 0 to 1.
    pub gcp: f64,
    /// The same, had the search left out no rows to make the others finer; none where it does not
    /// know.
    pub unsuppressed_gcp: Option<f64>,
}

impl PublishedLoss {
    /// Of a release with this loss and so many suppressed rows (or whole persons) of `all`.
    pub(super) fn new(loss: &Loss, suppressed: u64, all: u64, before: Option<f64>) -> Self {
        // Suppressed rows have lost all of theirs.
        let left = real(all - suppressed);
        let gcp = (loss.gcp * real(all) - real(suppressed)) / left.max(1.0);
        PublishedLoss { gcp: gcp.max(0.0), unsuppressed_gcp: before }
    }

    /// The mean loss of a published row without suppression, where suppression has lowered it.
    pub fn bought(&self) -> Option<f64> {
        self.unsuppressed_gcp.filter(|&before| before > self.gcp)
    }
}

/// The persons of a table, and how they are counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundPersons {
    /// The number of persons.
    pub count: u64,
    /// How their rows are counted.
    pub reading: Persons,
    /// Persons whose rows differ on a quasi-identifier.
    pub changing: u64,
    /// Persons that are not in the release, if they are suppressed as a whole.
    pub suppressed: Option<u64>,
}

impl FoundPersons {
    /// What the reading means, in a sentence.
    pub fn meaning(&self) -> &'static str {
        match self.reading {
            Persons::Whole => {
                "all rows of a person are in one class; each person counts once, and has a value \
                 if one of the rows has it"
            }
            Persons::Rows => {
                "rows of a person may be in several classes; k counts the persons of a class, and \
                 a row weighs one over the number of its person's rows"
            }
        }
    }
}

impl Report {
    /// The number of released rows.
    pub fn released(&self) -> u64 {
        self.verdict.measures.rows
    }

    /// The loss as a multiple of the lower bound; none without a bound above 0 that knows all rules.
    pub fn gap(&self) -> Option<f64> {
        self.found.bound_scope.gap(self.found.bound.as_ref(), self.found.loss.ncp)
    }

    /// True when every released row was compared with the source, and not the rules alone checked.
    pub fn is_compared(&self) -> bool {
        self.verdict.truth.as_ref().is_some_and(|truth| {
            truth.statements.iter().all(|statement| statement.finding == Finding::Ok)
        })
    }
}

impl fmt::Display for Report {
    /// `5-anonymous, 1,998 of 2,000 rows, loss 7.1 % (GCP), 1.80 × the lower bound`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verdict, found) = (&self.verdict, &self.found);
        match &verdict.non_homogeneous {
            Some(sense) => write!(f, "{}-anonymous, non-homogeneous", count(sense.candidates))?,
            None => write!(f, "{}-anonymous", count(verdict.measures.k))?,
        }
        let (released, rows) = (count(self.released()), count(found.rows));
        let is_all = found.generalized.iter().all(|shown| shown.weight > 0.0);
        let measure = if is_all { "GCP" } else { "GCP, without columns of weight 0" };
        write!(f, ", {released} of {rows} rows, loss {} ({measure})", percent(found.loss.gcp))?;
        match self.gap() {
            Some(gap) => write!(f, ", {gap:.2} × the lower bound"),
            None => Ok(()),
        }
    }
}

impl Serialize for Report {
    /// The keys of the command line's `--json`.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Report { found, guarded, verdict, times } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", &1)?;
        map.serialize_entry("input_rows", &found.rows)?;
        map.serialize_entry("released", &verdict.measures.rows)?;
        map.serialize_entry("suppressed", &found.suppressed)?;
        map.serialize_entry("persons", &found.persons)?;
        map.serialize_entry("classes", &verdict.measures.classes)?;
        map.serialize_entry("algorithm", &found.algorithm.map(Algorithm::name))?;
        map.serialize_entry("status", found.status_name())?;
        map.serialize_entry("loss", &NamedLoss(found))?;
        map.serialize_entry("published_loss", &found.published)?;
        map.serialize_entry("shown", &ByName(&found.quasi, &found.generalized))?;
        map.serialize_entry("purpose", &NamedWeights(&found.purpose))?;
        let bound = found.bound.as_ref();
        let bound = bound.map(|bound| BoundAndGap(bound, found.bound_scope, found.loss.ncp));
        map.serialize_entry("bound", &bound)?;
        map.serialize_entry("optimum", &found.optimum.as_ref().map(OptimumNumbers))?;
        map.serialize_entry("rules", &verdict.rules)?;
        map.serialize_entry("non_homogeneous", &verdict.non_homogeneous)?;
        map.serialize_entry("measures", &verdict.measures)?;
        map.serialize_entry("truth", &verdict.truth)?;
        map.serialize_entry("unique_rows", &found.unique)?;
        let warnings: Vec<String> = found.warnings.iter().map(ToString::to_string).collect();
        map.serialize_entry("warnings", &warnings)?;
        map.serialize_entry("guarded_cells", guarded)?;
        map.serialize_entry("times", &sums(times))?;
        map.serialize_entry("coded_bytes", &found.coded_bytes)?;
        map.serialize_entry("tuples", &found.tuples)?;
        map.end()
    }
}

impl Found {
    fn status_name(&self) -> &'static str {
        match self.status {
            _ if self.algorithm.is_none() => "applied",
            Status::Stopped => "stopped",
            Status::Optimal => "optimal",
            Status::Heuristic => "heuristic",
        }
    }
}

/// The seconds of each stage; the bound may come before the search and after it.
fn sums(times: &[(Stage, f64)]) -> BTreeMap<&'static str, f64> {
    let mut sums = BTreeMap::new();
    times.iter().for_each(|(stage, seconds)| *sums.entry(stage.name()).or_insert(0.0) += seconds);
    sums
}

/// Values by their names.
struct ByName<'a, T>(&'a [String], &'a [T]);

impl<T: Serialize> Serialize for ByName<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().zip(self.1))
    }
}

/// The loss, with the part of each quasi-identifier by its name.
struct NamedLoss<'a>(&'a Found);

impl Serialize for NamedLoss<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Loss { ncp, gcp, by_attribute, c_dm, c_avg, hdm, distortion } = &self.0.loss;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("ncp", ncp)?;
        map.serialize_entry("gcp", gcp)?;
        map.serialize_entry("by_attribute", &ByName(&self.0.quasi, by_attribute))?;
        map.serialize_entry("c_dm", c_dm)?;
        map.serialize_entry("c_avg", c_avg)?;
        map.serialize_entry("hdm", hdm)?;
        map.serialize_entry("distortion", distortion)?;
        map.end()
    }
}

/// The weights for a purpose by the name of the column; null without a purpose.
struct NamedWeights<'a>(&'a [PurposeWeight]);

impl Serialize for NamedWeights<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            [] => serializer.serialize_none(),
            some => serializer.collect_map(some.iter().map(|one| (&one.name, one))),
        }
    }
}

/// A bound, and the gap of a loss.
struct BoundAndGap<'a>(&'a Bound, BoundScope, f64);

impl Serialize for BoundAndGap<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let BoundAndGap(bound, scope, loss) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("value", &bound.value)?;
        map.serialize_entry("kind", bound.kind.name())?;
        map.serialize_entry("knows_rules", &scope.knows_rules(bound))?;
        map.serialize_entry("gap", &scope.gap(Some(bound), *loss))?;
        match bound.kind {
            BoundKind::Exact | BoundKind::Tight => {}
            BoundKind::Weaker { rows } => map.serialize_entry("weaker_rows", &rows)?,
            BoundKind::Estimate { sample, low, high } => {
                map.serialize_entry("sample", &sample)?;
                map.serialize_entry("low", &low)?;
                map.serialize_entry("high", &high)?;
            }
        }
        map.end()
    }
}

/// Cost, bound and gap of a global recoding.
struct OptimumNumbers<'a>(&'a Optimum);

impl Serialize for OptimumNumbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let found = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("cost", found.cost.name())?;
        map.serialize_entry("value", &found.value)?;
        map.serialize_entry("bound", &found.bound)?;
        map.serialize_entry("gap", &found.gap())?;
        map.serialize_entry("proven", &found.is_proven)?;
        map.serialize_entry("nodes", &found.nodes)?;
        map.serialize_entry("levels", &found.levels)?;
        map.serialize_entry("minimal", &found.minimal)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_bound_for_machines_has_its_kind_and_gap() {
        let with = |value, kind, scope| {
            let bound = Bound { value, kind };
            serde_json::to_value(BoundAndGap(&bound, scope, 300.0)).expect("plain data")
        };
        let json = |value, kind| with(value, kind, BoundScope::AllRules);
        let further = with(150.0, BoundKind::Exact, BoundScope::KAlone);
        assert_eq!((&further["gap"], &further["knows_rules"]), (&Value::Null, &false.into()));
        assert_eq!(json(250.0, BoundKind::Tight)["kind"], "tight");
        assert_eq!(json(150.0, BoundKind::Weaker { rows: 9 })["weaker_rows"], 9);
        let estimate = BoundKind::Estimate { sample: 50, low: 140.0, high: 160.0 };
        assert_eq!(json(150.0, estimate)["gap"], 2.0);
        assert_eq!(json(0.0, BoundKind::Exact)["gap"], Value::Null);
    }
}
