//! The record of a release, for the files of a data protection officer: when and with what the page
//! was made, which files it is about, what was asked for and why, and what was decided.
//!
//! The public edition has no checksum of the source: whoever has the release could try sources until
//! one fits. For the same reason it has no size of the source, no reasons, no warnings, and no
//! columns that are not in the release.

use std::path::PathBuf;

use lookalike::evaluate::disclosure::disclosures;
use lookalike::request::{Order, Rest, Roles};
use lookalike::run::Input;
use lookalike::table::Table;
use lookalike::{Request, Result, Warning};

use super::ReportOptions;
use super::checksum::{FileRecord, file_record};
use super::counts::CountPolicy;
use super::settings::{self, Setting};
use crate::words::has_rule;
use lookalike::audit::Verdict;

/// The record, as the edition may publish it.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The day in UTC; none when the caller gave none.
    pub(super) date: Option<String>,
    /// None where the table is in memory, came through a pipe, or is not for this edition.
    pub(super) source: Option<FileRecord>,
    pub(super) release: Option<FileRecord>,
    pub(super) settings: Vec<Setting>,
    pub(super) columns: Vec<ColumnRecord>,
    pub(super) decisions: Vec<String>,
    /// What was warned of, and is published all the same.
    pub(super) warnings: Vec<String>,
    /// The whole request without its seed; none in the public edition.
    pub(super) request: Option<Request>,
}

/// A column in the record.
#[derive(Debug)]
pub(super) struct ColumnRecord {
    pub(super) name: String,
    pub(super) role: &'static str,
    /// Why it has this role, in the words of the request.
    pub(super) reason: Option<String>,
    pub(super) settings: String,
}

/// The files of a report, before they are read.
#[derive(Debug)]
pub(super) struct ReportFiles {
    source: Option<PathBuf>,
    release: Option<PathBuf>,
}

impl ReportFiles {
    pub(super) fn of(source: &Input, release: &Input) -> ReportFiles {
        let path = |input: &Input| input.regular_file().map(PathBuf::from);
        ReportFiles { source: path(source), release: path(release) }
    }
}

/// Makes the record of a release. `warnings` are those of the request and of its problem.
pub(super) fn record(
    files: &ReportFiles,
    source: &Table,
    verdict: &Verdict,
    (roles, request): (&Roles, &Request),
    options: &ReportOptions,
    policy: CountPolicy,
    warnings: &[Warning],
) -> Result<Record> {
    let is_internal = policy == CountPolicy::Exact;
    let sum = |path: &Option<PathBuf>| path.as_deref().map(file_record).transpose();
    let rules: Vec<String> = verdict.rules.iter().map(|rule| rule.rule.clone()).collect();
    let mut said: Vec<String> = Vec::new();
    if is_internal {
        said.extend(warnings.iter().map(ToString::to_string));
        // A release that was not made by a run may publish what a run refuses.
        match disclosures(source, roles, request) {
            Ok(found) => said.extend(found.warnings.iter().map(ToString::to_string)),
            Err(error) => said.push(error.to_string()),
        }
        said.dedup();
    }
    Ok(Record {
        date: options.date.map(|date| date.to_string()),
        source: if is_internal { sum(&files.source)? } else { None },
        release: sum(&files.release)?,
        settings: settings::settings(request, &rules, policy),
        columns: columns(roles, request, policy),
        decisions: decisions(verdict, roles, request, policy),
        warnings: said,
        request: is_internal.then(|| Request { seed: None, ..request.clone() }),
    })
}

fn columns(roles: &Roles, request: &Request, policy: CountPolicy) -> Vec<ColumnRecord> {
    let is_internal = policy == CountPolicy::Exact;
    let one = |role| {
        move |name: &String| {
            let line = request.column(name);
            let reason = line.and_then(|line| line.reason.clone()).filter(|_| is_internal);
            let settings = line.map_or(String::new(), |line| settings::of_column(line, policy));
            let role = if roles.weight.as_ref() == Some(name) { "sampling weight" } else { role };
            ColumnRecord { name: name.clone(), role, reason, settings }
        }
    };
    let mut list: Vec<ColumnRecord> = roles.quasi.iter().map(one("quasi-identifier")).collect();
    list.extend(roles.sensitive.iter().map(one("sensitive")));
    list.extend(roles.keep.iter().map(one("kept")));
    list.extend(roles.hashed.iter().map(one("identifier, hashed")));
    list.extend(roles.count.iter().map(one("count")));
    if is_internal {
        list.extend(roles.person.iter().map(one("person")));
        list.extend(roles.dropped.iter().map(one("dropped")));
    }
    list
}

/// Decisions that the request shows, each a sentence. Those that say something about the source
/// beyond the release are for the internal edition.
fn decisions(
    verdict: &Verdict,
    roles: &Roles,
    request: &Request,
    policy: CountPolicy,
) -> Vec<String> {
    let mut said = Vec::new();
    let mut say = |names: Vec<&String>, words: &str| {
        if !names.is_empty() {
            let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
            said.push(format!("{words}: {}.", names.join(", ")));
        }
    };
    let line = |name: &String| request.column(name);
    let is_coarsened = |name: &&String| roles.coarsened.contains(name);
    let (named, of_rest): (Vec<_>, Vec<_>) =
        roles.keep.iter().filter(|name| !is_coarsened(name)).partition(|name| line(name).is_some());
    say(roles.coarsened.iter().collect(), "Rounded, or coded at the top or the bottom");
    say(roles.hashed.iter().collect(), "Identifiers published as keyed hashes");
    say(named, "Published unchanged, by name");
    if request.rest == Some(Rest::Keep) {
        say(of_rest, "Published unchanged, because columns without a role are kept");
    }
    let unruled = roles.sensitive.iter().filter(|name| !is_coarsened(name));
    let unruled = unruled.filter(|name| !has_rule(verdict, name)).collect();
    say(unruled, "Sensitive and published unchanged without a rule");
    let uncounted = |name: &&String| line(name).and_then(|line| line.weight) == Some(0.0);
    say(roles.quasi.iter().filter(uncounted).collect(), "Not spared by the search (weight 0)");
    if policy == CountPolicy::Exact {
        let unchanged = roles.keep.iter().chain(&roles.sensitive);
        let dependent = unchanged.filter(|name| line(name).is_some_and(|line| line.dependent));
        say(dependent.collect(), "Accepted although it determines a quasi-identifier");
        say(roles.dropped.iter().collect(), "Not published");
    }
    let switches = [
        (
            request.accept_unique && policy == CountPolicy::Exact,
            "Accepted: rows that are unique on the columns published unchanged.",
        ),
        (request.output.pseudonyms, "Each person has a random number in place of the person key."),
        (request.output.order == Order::Input, "The rows are in the order of the source."),
        (
            !request.output.snap,
            "Ranges end at values that occur in their class, not at round numbers (snap is off).",
        ),
    ];
    said.extend(switches.iter().filter(|(is_set, _)| *is_set).map(|(_, words)| words.to_string()));
    said
}
