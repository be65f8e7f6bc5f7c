//! What a release does not protect against, and which of it matters for this one.

use lookalike::evaluate::profile::repeated_persons;
use lookalike::request::Order;

use super::numbers::{Found, Guard};
use crate::cmd::anonymize::has_rule;
use crate::show::{decimal, percent};

/// One limit of the protection.
#[derive(Debug)]
pub(super) struct Caveat {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) text: String,
    /// True when this release gives a reason to look at it.
    pub(super) matters: bool,
}

/// All of them, those that matter first.
pub(super) fn caveats(found: &Found<'_>, guard: Guard) -> Vec<Caveat> {
    let caveat = |key, title, matters, text: String| Caveat { key, title, text, matters };
    let keep = &found.roles.keep;
    let mut list = vec![persons(found, guard), attributes(found)];
    list.push(caveat(
        "kept",
        "Columns published as they are",
        !keep.is_empty(),
        match keep.is_empty() {
            true => "No column is kept as it is beside the sensitive ones.".to_string(),
            false => format!(
                "As in the source: {}. If somebody can know that of a person, it tells rows of a class apart, and a row has fewer \
                 lookalikes than this page says.",
                keep.join(", ")
            ),
        },
    ));
    list.push(caveat(
        "linkable",
        "Other columns that somebody could link",
        !found.roles.sensitive.is_empty() || !keep.is_empty(),
        format!(
            "The protection is for {} and for no other column. It rests on nobody knowing more of a person than these.",
            found.quasi.join(", ")
        ),
    ));
    list.push(caveat(
        "background",
        "Background knowledge",
        !found.roles.sensitive.is_empty(),
        "Whoever can rule out values for a person (a neighbour, a colleague) needs fewer than the others of the class to conclude the rest."
            .to_string(),
    ));
    let seeded = found.request.output.order == Order::Input;
    list.push(caveat(
        "minimality",
        "Methods that lose as little as they can",
        true,
        "A search that minimizes loss tells an attacker who knows the method something: that a class could not be split further, \
         or why a row was left out (minimality, downcoding). Global recoding with published intervals tells less. The seed of the search \
         must stay secret."
            .to_string(),
    ));
    list.push(caveat(
        "order",
        "The order of rows",
        seeded,
        match seeded {
            true => "The rows were asked for in the order of the input: whoever knows that order knows who is who.".to_string(),
            false => "Rows in the order of the source tell who is who; lookalike sorts them by what they show.".to_string(),
        },
    ));
    list.push(caveat(
        "several",
        "Several releases of one table",
        true,
        "Releases of the same people can be intersected: a person is in one class of each, and few rows may be in all of them. Release \
         once."
            .to_string(),
    ));
    list.push(caveat(
        "not_differential",
        "This is not differential privacy",
        true,
        "k-anonymity is a property of this file, not of what others do with it. It gives no bound on what can be learnt together with \
         further sources."
            .to_string(),
    ));
    list.sort_by_key(|caveat| !caveat.matters);
    list
}

/// Rows are counted. Whether they are persons only the source can tell, as far as it has a column
/// that stands for them.
fn persons(found: &Found<'_>, guard: Guard) -> Caveat {
    let said: Vec<String> = found.counted.iter().filter_map(repeated_persons).collect();
    let text = match (guard, said.is_empty()) {
        (_, true) => "Every number here counts rows. If a person has several rows, k rows may be those of fewer than k persons.".to_string(),
        // Neither the columns that were dropped nor counts of them are told outside.
        (Guard::Below(_), false) => {
            "Every number here counts rows, and in the source a person can have several: k rows may be those of fewer than k persons."
                .to_string()
        }
        (Guard::None, false) => format!("{}.", said.join(". ")),
    };
    Caveat { key: "persons", title: "Rows are not persons", text, matters: !said.is_empty() }
}

/// What classes tell of sensitive columns.
fn attributes(found: &Found<'_>) -> Caveat {
    let columns = &found.verdict.measures.sensitive;
    let unruled: Vec<_> =
        columns.iter().filter(|column| !has_rule(&found.verdict, &column.column)).collect();
    let told = |column: &&lookalike::audit::SensitiveMeasures| {
        format!(
            "in {} one value fills up to {} of a class, and a class is up to t = {} from the whole table",
            column.column,
            percent(column.alpha),
            decimal(column.t_equal)
        )
    };
    let text = if columns.is_empty() {
        "k-anonymity hides which row is a person's, not what is true of a whole class. No column was declared sensitive."
            .to_string()
    } else if unruled.is_empty() {
        let all: Vec<_> = columns.iter().collect();
        format!(
            "k-anonymity hides which row is a person's, not what is true of a whole class. Every sensitive column has a rule: {}.",
            all.iter().map(told).collect::<Vec<_>>().join("; ")
        )
    } else {
        format!(
            "k-anonymity hides which row is a person's, not what is true of a whole class. No rule limits that here: {}.",
            unruled.iter().map(told).collect::<Vec<_>>().join("; ")
        )
    };
    Caveat {
        key: "attributes",
        title: "What a whole class has in common",
        text,
        matters: !unruled.is_empty(),
    }
}
