//! The limits of the protection. Those that the numbers of this release show to matter come first, the
//! worst of them at the top, and are marked; general ones follow.

use std::fmt::Write;

use lookalike::evaluate::profile::repeated_persons;
use lookalike::request::Order;

use super::counts::CountPolicy;
use super::numbers::{ReportInput, ReportNumbers};
use crate::plot::escape;
use crate::words::{MANY_UNIQUE, has_rule, ratio};
use lookalike::numbers::{decimal, percent};

/// One limit of the protection.
#[derive(Debug)]
pub(super) struct Caveat {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) text: String,
    /// How much it matters for this release, by its numbers: 0 for a general limit, up to 1.
    pub(super) weight: f64,
}

impl Caveat {
    /// True when the numbers of this release show that it matters.
    pub(super) fn matters(&self) -> bool {
        self.weight > 0.0
    }
}

/// A value with more than this share of a class is known of most of its rows.
const MOSTLY: f64 = 0.5;

/// All of them, those that matter most first.
pub(super) fn caveats(found: &ReportInput<'_>, policy: CountPolicy) -> Vec<Caveat> {
    let caveat = |key, title, weight, text: String| Caveat { key, title, text, weight };
    let unique = found.unique.as_ref().map_or(0.0, |unique| unique.share());
    let keep = &found.roles.keep;
    let of_persons = match &found.verdict.persons {
        Some(verdict) => super::persons::caveat(verdict),
        None => persons(found, policy),
    };
    let mut list = vec![of_persons, attributes(found)];
    list.push(caveat(
        "kept",
        "Columns published unchanged",
        if unique > MANY_UNIQUE && !keep.is_empty() { unique } else { 0.0 },
        if keep.is_empty() {
            "Except for sensitive columns, no column is published unchanged.".to_string()
        } else {
            format!(
                "Unchanged: {}. If somebody can know these values of a person, they distinguish \
                 the rows of a class, and a row has fewer lookalikes than this page says.",
                keep.join(", ")
            )
        },
    ));
    list.push(caveat(
        "linkable",
        "Other columns that could be linked",
        0.0,
        format!(
            "The protection is for {} and for no other column. It assumes that nobody knows more \
             about a person than these.",
            found.quasi.join(", ")
        ),
    ));
    list.push(caveat(
        "background",
        "Background knowledge",
        0.0,
        "A person who can exclude values for somebody (a neighbour, a colleague) needs fewer rows \
         of the class to infer the rest."
            .to_string(),
    ));
    let in_order = found.request.output.order == Order::Input;
    list.push(caveat(
        "minimality",
        "Searches that minimize the loss",
        0.0,
        "A search that minimizes the loss discloses something to an attacker who knows the method: \
         that a class could not be split further, or why a row was suppressed (minimality, \
         downcoding). Global recoding with published intervals discloses less. The seed of the \
         search must stay secret."
            .to_string(),
    ));
    list.push(caveat(
        "order",
        "The order of rows",
        if in_order { 1.0 } else { 0.0 },
        if in_order {
            "The rows are in the order of the input: who knows that order can identify persons."
        } else {
            "Rows in the order of the source identify persons; lookalike sorts them by their \
             published values."
        }
        .to_string(),
    ));
    list.push(caveat(
        "several",
        "Several releases of one table",
        0.0,
        "Releases about the same people can be intersected: a person is in one class of each, and \
         few rows may be in all of them. Release once."
            .to_string(),
    ));
    list.push(caveat(
        "not_differential",
        "This is not differential privacy",
        0.0,
        "k-anonymity is a property of this file, not of its use. It gives no bound on what can be \
         learnt together with other sources."
            .to_string(),
    ));
    list.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    list
}

/// The section: what matters here, then the general limits.
pub(super) fn section(report: &ReportNumbers) -> String {
    let mut out = "<h2>Limits of the protection</h2>\n".to_string();
    let (matter, general): (Vec<_>, Vec<_>) = report.caveats.iter().partition(|one| one.matters());
    let unique = report.unique.as_ref();
    let unique = unique
        .map_or(0.0, |unique| ratio(unique.with_quasi.unwrap_or(unique.together), unique.rows));
    if matter.is_empty() && unique > MANY_UNIQUE {
        out += &format!(
            "<p>{} of the rows are unique on the published quasi-identifiers and the columns \
             published unchanged together: whoever knows all of them knows the row.</p>\n",
            percent(unique)
        );
    } else if matter.is_empty() {
        out += "<p>By the numbers of this page, none of the limits below stands out here.</p>\n";
    }
    for (head, tag, list) in [
        ("", "<span class=\"tag\">matters here</span>", matter),
        ("<h3>In general</h3>\n", "", general),
    ] {
        if list.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{head}<dl>");
        for caveat in list {
            let (title, text) = (escape(caveat.title), escape(&caveat.text));
            let _ = writeln!(out, "<dt>{title}{tag}</dt><dd>{text}</dd>");
        }
        out += "</dl>\n";
    }
    out
}

/// All numbers count rows. A column of the source that identifies persons shows whether a person has
/// several rows.
fn persons(found: &ReportInput<'_>, policy: CountPolicy) -> Caveat {
    let said: Vec<String> = found
        .counted
        .iter()
        .filter_map(repeated_persons)
        .map(|warning| warning.to_string())
        .collect();
    let text = match (policy, said.is_empty()) {
        _ if found.request.count.is_some() => {
            "Every number here counts rows, each row of the files as often as its count says. \
             Whether a person has several rows was not checked: if so, k rows may belong to fewer \
             than k persons."
                .to_string()
        }
        (_, true) => "Every number here counts rows. If a person has several rows, k rows may \
                      belong to fewer than k persons."
            .to_string(),
        // The public edition has neither dropped columns nor counts of them.
        (CountPolicy::Guarded(_), false) => {
            "Every number here counts rows, and in the source a person can have several: k rows \
             may belong to fewer than k persons."
                .to_string()
        }
        (CountPolicy::Exact, false) => format!("{}.", said.join(". ")),
    };
    Caveat {
        key: "persons",
        title: "Rows are not persons",
        text,
        weight: if said.is_empty() { 0.0 } else { 1.0 },
    }
}

/// What a class discloses about sensitive columns.
fn attributes(found: &ReportInput<'_>) -> Caveat {
    let columns = &found.verdict.measures.sensitive;
    let unruled: Vec<_> =
        columns.iter().filter(|column| !has_rule(&found.verdict, &column.column)).collect();
    let worst = |column: &&lookalike::audit::SensitiveMeasures| {
        format!(
            "in {} one value has up to {} of a class, and the distance of a class from the whole \
             table is up to t = {}",
            column.column,
            percent(column.alpha),
            decimal(column.t_equal)
        )
    };
    const HIDES: &str = "k-anonymity hides the row of a person, not what all rows of a class have \
                         in common.";
    let text = if columns.is_empty() {
        format!("{HIDES} No column was declared sensitive.")
    } else if unruled.is_empty() {
        let all: Vec<_> = columns.iter().collect();
        let worst = all.iter().map(worst).collect::<Vec<_>>().join("; ");
        format!("{HIDES} Every sensitive column has a rule: {worst}.")
    } else {
        let worst = unruled.iter().map(worst).collect::<Vec<_>>().join("; ");
        format!("{HIDES} No rule limits that here: {worst}.")
    };
    Caveat {
        key: "attributes",
        title: "Sensitive values that a class has in common",
        text,
        weight: unruled
            .iter()
            .map(|column| column.alpha)
            .filter(|&most| most > MOSTLY)
            .fold(0.0, f64::max),
    }
}
