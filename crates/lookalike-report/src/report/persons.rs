//! The persons of a release, as an edition may publish them.

use lookalike::Request;
use lookalike::audit::{CountUnit, Finding, PersonsVerdict, RuleVerdict, Verdict};
use lookalike::request::Persons;

use super::caveats::Caveat;
use super::counts::{CountPolicy, SourceCount};
use super::numbers::{ColumnLine, ReportInput};
use lookalike::numbers::count;

/// Persons before and after; none where rows are counted.
#[derive(Debug)]
pub(super) struct PersonNumbers {
    pub(super) reading: Persons,
    pub(super) meaning: String,
    pub(super) source: Option<SourceCount>,
    pub(super) released: SourceCount,
    pub(super) suppressed: Option<SourceCount>,
    /// The checks: mark and sentence.
    pub(super) checks: Vec<(Finding, String)>,
}

/// Without pseudonyms nobody can count persons in a release. For the public edition the measures
/// are then reduced to what the request demands, and shares are rounded.
pub(super) fn disclosed(verdict: Verdict, request: &Request, policy: CountPolicy) -> Verdict {
    let is_hidden =
        verdict.persons.is_some() && policy != CountPolicy::Exact && !request.output.pseudonyms;
    if !is_hidden || !verdict.holds() {
        return verdict;
    }
    let mut verdict = verdict;
    let measures = &mut verdict.measures;
    measures.k = request.k.unwrap_or(1).min(measures.k);
    measures.histogram.clear();
    measures.risk.at_risk.clear();
    #[allow(clippy::cast_precision_loss, reason = "for display")]
    let highest = 1.0 / measures.k as f64;
    (measures.risk.highest, measures.risk.average) = (highest, highest);
    for column in &mut measures.sensitive {
        column.alpha = policy.rough(column.alpha);
        column.t_equal = policy.rough(column.t_equal);
    }
    verdict.rules =
        verdict.rules.into_iter().map(|rule| RuleVerdict { worst: rule.limit, ..rule }).collect();
    if let Some(persons) = &mut verdict.persons {
        persons.meaning = persons.meaning_for(verdict.measures.k);
    }
    verdict
}

/// The numbers of persons that the edition may publish.
pub(super) fn numbers(persons: &PersonsVerdict, policy: CountPolicy) -> PersonNumbers {
    let suppressed = persons.source.map(|all| all.saturating_sub(persons.released));
    let suppressed = suppressed.map(|some| match some {
        0 => SourceCount::Exact(0),
        some => policy.count(some),
    });
    // A hidden count must not follow from a difference.
    let source = persons.source.filter(|_| matches!(suppressed, Some(SourceCount::Exact(_))));
    let checks = persons.statements.iter();
    PersonNumbers {
        reading: persons.reading,
        meaning: persons.meaning.clone(),
        source: source.map(|all| policy.count(all)),
        released: policy.count(persons.released),
        suppressed,
        checks: match policy {
            CountPolicy::Exact => checks.map(|said| (said.finding, said.text.clone())).collect(),
            CountPolicy::Guarded(_) if persons.holds() => Vec::new(),
            CountPolicy::Guarded(_) => {
                vec![(Finding::Broken, "the persons are not protected as demanded".to_string())]
            }
        },
    }
}

/// The verdict in two sentences, for a release that holds; `rows` says how many were suppressed.
pub(super) fn sentences(
    persons: &PersonsVerdict,
    policy: CountPolicy,
    (k, columns): (u64, &str),
    rows: String,
) -> String {
    let suppressed = suppressed_words(&numbers(persons, policy)).unwrap_or(rows);
    format!(
        "This file is {}-anonymous for {columns}, counting persons: {}. The file satisfies every \
         rule of the request, and {suppressed}.",
        count(k),
        persons.meaning
    )
}

/// The members of a class, and one of them, in the lines on risk.
pub(super) fn words(unit: CountUnit) -> (&'static str, &'static str) {
    match unit {
        CountUnit::Rows => ("rows", "a row, if each row is one person"),
        CountUnit::Persons => ("persons", "a person"),
    }
}

/// The treatment of the person key.
pub(super) fn column_lines(found: &ReportInput<'_>, policy: CountPolicy) -> Vec<ColumnLine> {
    let line = |name: &String, role, how: &str| ColumnLine {
        name: name.clone(),
        role,
        how: how.to_string(),
        changed: None,
        ncp: None,
    };
    let key = &found.roles.person;
    if found.request.output.pseudonyms {
        let several = "person".to_string();
        let column = if let [one] = &**key { one } else { &several };
        vec![line(column, "person", "a random number for each person")]
    } else if policy == CountPolicy::Exact {
        key.iter().map(|name| line(name, "dropped", "not in the release")).collect()
    } else {
        Vec::new()
    }
}

/// `no person was suppressed`
fn suppressed_words(persons: &PersonNumbers) -> Option<String> {
    if persons.reading == Persons::Rows {
        return None;
    }
    Some(match persons.suppressed? {
        SourceCount::Exact(0) => "no person was suppressed".to_string(),
        SourceCount::Exact(1) => "1 person was suppressed".to_string(),
        SourceCount::Below(least) => format!("fewer than {} persons were suppressed", count(least)),
        SourceCount::Exact(some) => format!("{} persons were suppressed", count(some)),
        SourceCount::About(some) => format!("about {} persons were suppressed", count(some)),
    })
}

/// The limit of the reading.
pub(super) fn caveat(persons: &PersonsVerdict) -> Caveat {
    let limit = match persons.reading {
        Persons::Whole => {
            "The number of rows of a person, and all their sensitive and kept values together, are \
             not generalized: whoever knows them can know the person."
        }
        Persons::Rows => {
            "Whoever knows several rows of a person can compare their classes, and few persons may \
             be in all of them. Whole persons (persons = \"whole\") do not have this limit."
        }
    };
    Caveat {
        key: "reading",
        title: "Several rows of one person",
        text: format!("Persons are counted: {}. {limit}", persons.meaning),
        weight: if persons.reading == Persons::Rows { 1.0 } else { 0.0 },
    }
}
