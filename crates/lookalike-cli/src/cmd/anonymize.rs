//! `lookalike anonymize`: search, write, read back, verify.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lookalike::audit::{Finding, NonHomogeneous, RuleVerdict, Verdict};
use lookalike::search::global::Optimum;
use lookalike::{Algorithm, Request, Result, Status, rng, table};
use serde_json::{Map, Value, json};

use crate::args::{AnonymizeArgs, GlobalArgs};
use crate::pipeline::{self, RecodingSource, ReleaseJob, RunReport, SearchJob};
use crate::progress::StageProgress;
use crate::request::{self, usage};
use crate::show::{self, count, counted, percent};
use crate::{BUG, bounds, files, interrupt};

pub(crate) fn run(args: &AnonymizeArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.release.apply_to(&mut request)?;
    refuse_unused(args, &request)?;
    let data = request::data(args.data.as_ref(), &request)?;
    let out = output(args.output.as_ref(), &request)?;
    request.seed = args.seed.or(request.seed);
    let seed = request.seed.unwrap_or_else(rng::seed_from_system);
    let techniques = args.release.how.techniques();
    let bound = args.release.how.bound;
    let recoding = RecodingSource::Search(SearchJob {
        techniques,
        tuning: pipeline::tuning(&args.tune)?,
        bound,
        proof: args.proof.as_deref(),
        recoding: args.recoding.as_deref(),
    });
    let reads = files::of_request(&args.request, &request);
    make(
        &ReleaseJob {
            request: &request,
            data: &data,
            reads,
            out: &out,
            force: args.force,
            seed,
            recoding,
        },
        args.json,
        global,
    )
}

/// Refuses flags that only global algorithms use.
fn refuse_unused(args: &AnonymizeArgs, request: &Request) -> Result<()> {
    let is_global = |name: &str| name.parse::<Algorithm>().is_ok_and(Algorithm::is_global);
    let named = [
        ("--scheme", !args.release.how.scheme.is_empty()),
        ("--cost", args.release.how.cost.is_some()),
    ];
    match named.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) if !request.algorithm.as_deref().is_some_and(is_global) => Err(usage(
            format!("{flag} needs --algorithm optimal: the others publish ranges, not blocks"),
        )),
        _ => Ok(()),
    }
}

/// Makes a release and prints its numbers.
pub(crate) fn make(job: &ReleaseJob, json: bool, global: &GlobalArgs) -> Result<ExitCode> {
    if json && job.out == Path::new("-") {
        return Err(usage(
            "--json and the release would both go to standard output: name a file for the release, \
             -o FILE",
        ));
    }
    let mut progress = StageProgress::new(global.quiet);
    let done = pipeline::run(job, &mut progress)?;
    if !done.published {
        return Ok(refused(&done.verdict));
    }
    if !global.quiet {
        let summary = summary(&done, &progress, job.out);
        table::undisturbed(|| show::say(summary.trim_end()));
    }
    let printed = if json { show::json(&report(&done, &progress, job.out)) } else { Ok(()) };
    show::verdict(printed, 0).inspect_err(|_| {
        show::say(&format!(
            "note      {} is written and verified, but its numbers could not be printed",
            show::path(job.out)
        ));
    })
}

/// The output: the one on the command line, else the one of the configuration, else a pipe.
fn output(typed: Option<&PathBuf>, request: &Request) -> Result<PathBuf> {
    match typed.or(request.output.path.as_ref()) {
        Some(path) => Ok(path.clone()),
        None if !std::io::stdout().is_terminal() => Ok(PathBuf::from("-")),
        None => Err(usage(
            "no output: name a file for the release, -o safe.csv (or -o - for the terminal)",
        )),
    }
}

/// Reports a written file that failed the audit; it was removed already.
pub(crate) fn refused(verdict: &Verdict) -> ExitCode {
    show::error(&complaint(verdict));
    ExitCode::from(BUG)
}

fn complaint(verdict: &Verdict) -> String {
    let rules = verdict
        .rules
        .iter()
        .filter(|rule| rule.violations > 0)
        .map(|rule| format!("{} is broken", rule.rule));
    let truth = verdict.truth.iter().flat_map(|truth| &truth.statements);
    let untrue = truth
        .filter(|statement| statement.finding == Finding::Broken)
        .map(|statement| statement.text.clone());
    let found: Vec<String> = rules.chain(verdict.leaks.iter().cloned()).chain(untrue).collect();
    show::bug(&format!("the written file failed the audit and was removed: {}", found.join("; ")))
}

/// The summary at the end of a run.
pub(crate) fn summary(done: &RunReport, progress: &StageProgress, out: &Path) -> String {
    let verdict = &done.verdict;
    let mut text = String::new();
    let suppressed = match done.search.suppressed {
        0 => "none suppressed".to_string(),
        some => format!("{} suppressed, {}", count(some), percent(ratio(some, done.search.rows))),
    };
    text += &format!(
        "rows      {} read, {} released ({suppressed})\n",
        count(done.search.rows),
        count(verdict.measures.rows)
    );
    text += &format!("{}\n", classes_line(verdict));
    text += &format!("loss      {}\n", loss_line(done));
    if let Some(bound) = &done.search.bound {
        let is_all = done.search.shown.iter().all(|shown| shown.weight > 0.0);
        text += &format!("bound     {}\n", bounds::words(bound, done.search.loss.ncp, is_all));
    }
    if let Some(sense) = &verdict.non_homogeneous {
        text += &format!(
            "verified  {}\n",
            in_sense(sense, &done.search.quasi).replace('\n', "\n          ")
        );
    } else if verdict.rules.iter().any(|rule| rule.rule.starts_with("k = ")) {
        text += &show::wrap(
            &format!("verified  {}-anonymous for these columns: ", verdict.measures.k),
            &done.search.quasi,
        );
        text.push('\n');
    }
    for rule in &verdict.rules {
        text +=
            &format!("          {}\n", rule_line(rule, &done.search.quasi, group_words(verdict)));
    }
    // A sensitive column without a rule is published too: warn about its worst class.
    let unruled =
        verdict.measures.sensitive.iter().filter(|column| !has_rule(verdict, &column.column));
    for column in unruled.filter(|_| verdict.non_homogeneous.is_none()) {
        let (share, far) = (percent(column.alpha), show::decimal(column.t_equal));
        text += &format!(
            "note      no rule on {}: one value has up to {share} of a class, and t is {far}\n",
            show::clean(&column.column)
        );
    }
    if let Some(found) = &done.search.optimum {
        text += &format!("{}\n", optimum_line(found));
        if !found.levels.is_empty() {
            text += &format!("{}\n", levels_lines(found, &done.search.quasi));
        }
    }
    if done.search.status == Status::Stopped {
        let why = if interrupt::is_cancelled() { "on your request" } else { "at its limit" };
        text += &format!(
            "note      the search was stopped {why}: the release is valid, but a longer search may \
             lose less\n"
        );
    }
    if done.guarded > 0 {
        text += &format!(
            "note      {} began like a formula and got an apostrophe in front (--raw-formulas turns \
             this off)\n",
            counted(done.guarded, "text cell", "text cells")
        );
    }
    text += &format!("time      {}\n", show::seconds(progress.total()));
    text += &format!("written   {}\n", show::path(out));
    text
}

/// The cost of a global recoding, and whether it is the minimum.
fn optimum_line(found: &Optimum) -> String {
    let (name, value) = (found.cost.name().to_uppercase(), show::decimal(found.value));
    match gap(found) {
        _ if found.is_proven && found.levels.is_empty() => {
            format!("optimal   {name} {value}: no global recoding of these schemes loses less")
        }
        _ if found.is_proven => {
            format!("optimal   {name} {value}: no full-domain recoding loses less")
        }
        Some(gap) => format!(
            "bound     {name} {value}, at most {} × the minimum of these schemes",
            show::decimal(gap)
        ),
        None => format!("bound     {name} {value}; no lower bound was found"),
    }
}

/// The chosen levels, and the number of minimal choices.
fn levels_lines(found: &Optimum, quasi: &[String]) -> String {
    let levels: Vec<String> =
        quasi.iter().zip(&found.levels).map(|(name, level)| format!("{name} {level}")).collect();
    let minimal = match found.minimal.len() as u64 {
        0 => "the search for minimal choices did not end".to_string(),
        some => {
            format!("{} minimal", counted(some, "choice of levels is", "choices of levels are"))
        }
    };
    format!("{}\n          {minimal}", show::wrap("levels    ", &levels))
}

/// The number of classes; a non-homogeneous release has none.
pub(crate) fn classes_line(verdict: &Verdict) -> String {
    let classes = count(verdict.measures.classes);
    match &verdict.non_homogeneous {
        None => format!(
            "classes   {classes}, the smallest has {}",
            counted(verdict.measures.k, "row", "rows")
        ),
        Some(_) => {
            format!("boxes     {classes} (a non-homogeneous release has no classes)")
        }
    }
}

/// The weaker sense in which a non-homogeneous release is k-anonymous.
pub(crate) fn in_sense(sense: &NonHomogeneous, quasi: &[String]) -> String {
    let candidates = count(sense.candidates);
    let columns =
        show::wrap(&format!("{candidates}-anonymous, NON-HOMOGENEOUS, for these columns: "), quasi);
    format!(
        "{columns}\n(every row could be any of {candidates} released rows, which differ from each \
         other)"
    )
}

pub(crate) fn has_rule(verdict: &Verdict, column: &str) -> bool {
    verdict.rules.iter().any(|rule| rule.sensitive.as_deref() == Some(column))
}

/// The loss in one line, and the column that loses most.
pub(crate) fn loss_line(done: &RunReport) -> String {
    let loss = &done.search.loss;
    let mut text = format!("{} of the detail (GCP; NCP {:.1})", percent(loss.gcp), loss.ncp);
    let worst = done
        .search
        .quasi
        .iter()
        .zip(&loss.by_attribute)
        .max_by(|a, b| a.1.total_cmp(b.1))
        .filter(|_| loss.ncp > 0.0);
    if let Some((name, lost)) = worst {
        text += &format!(", {} of it in column {name}", percent(lost / loss.ncp));
    }
    // A loss of 0 must not hide the generalization of columns with weight 0.
    for (name, shown) in
        done.search.quasi.iter().zip(&done.search.shown).filter(|(_, shown)| shown.weight <= 0.0)
    {
        text += &format!(
            "\n          column {name} has weight 0 and is not counted: {} of its cells are generalized",
            percent(shown.generalized)
        );
    }
    text
}

/// The groups of rows that a rule is checked on, in the singular and the plural.
pub(crate) type GroupWords = (&'static str, &'static str);

pub(crate) const CLASSES: GroupWords = ("class", "classes");

/// Classes; in a non-homogeneous release, the windows of rows that one person could be.
pub(crate) fn group_words(verdict: &Verdict) -> GroupWords {
    if verdict.non_homogeneous.is_some() { ("window", "windows") } else { CLASSES }
}

/// The result of a rule. A rule on all quasi-identifiers does not name them again.
pub(crate) fn rule_line(rule: &RuleVerdict, quasi: &[String], groups: GroupWords) -> String {
    let worst = show::decimal(rule.worst);
    let on_all = format!(" on {}", quasi.join(", "));
    let words = rule.rule.strip_suffix(&on_all).unwrap_or(&rule.rule);
    match rule.violations {
        0 => format!("ok      {words} ({} {worst})", rule.measure),
        broken => format!(
            "BROKEN  {words} by {} with {} ({} {worst})",
            counted(broken, groups.0, groups.1),
            counted(rule.rows, "row", "rows"),
            rule.measure
        ),
    }
}

/// The same, and below it the worst classes that violate the rule: sizes and shares, no value.
pub(crate) fn rule_lines(rule: &RuleVerdict, quasi: &[String], groups: GroupWords) -> String {
    let mut text = rule_line(rule, quasi, groups) + "\n";
    for class in &rule.examples {
        let alike = if class.classes > 1 {
            format!(" ({} {} like this)", count(class.classes), groups.1)
        } else {
            String::new()
        };
        text += &format!("        - {}{alike}\n", class.text);
    }
    match rule.violations - rule.examples.iter().map(|class| class.classes).sum::<u64>() {
        0 => {}
        more => text += &format!("        and {} not listed\n", counted(more, groups.0, groups.1)),
    }
    text
}

#[allow(clippy::cast_precision_loss, reason = "for display")]
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The same numbers as JSON, without the seed: who has it can repeat the random choices.
fn report(done: &RunReport, progress: &StageProgress, out: &Path) -> Value {
    let verdict = &done.verdict;
    let by_attribute: Map<String, Value> = done
        .search
        .quasi
        .iter()
        .cloned()
        .zip(done.search.loss.by_attribute.iter().map(|&lost| json!(lost)))
        .collect();
    let mut loss = json!(done.search.loss);
    loss["by_attribute"] = Value::Object(by_attribute);
    let shown: Map<String, Value> = done
        .search
        .quasi
        .iter()
        .cloned()
        .zip(done.search.shown.iter().map(|shown| json!(shown)))
        .collect();
    let times: Map<String, Value> = progress
        .times()
        .iter()
        .map(|&(stage, seconds)| (stage.to_string(), json!(seconds)))
        .collect();
    json!({
        "version": 1,
        "input_rows": done.search.rows,
        "released": verdict.measures.rows,
        "suppressed": done.search.suppressed,
        "classes": verdict.measures.classes,
        "algorithm": done.search.algorithm.map(Algorithm::name),
        "status": match done.search.status {
            _ if done.search.algorithm.is_none() => "applied",
            Status::Stopped => "stopped",
            Status::Optimal => "optimal",
            _ => "heuristic",
        },
        "loss": loss,
        "shown": shown,
        "bound": done.search.bound.as_ref().map(|bound| bounds::report(bound, done.search.loss.ncp)),
        "optimum": done.search.optimum.as_ref().map(optimum),
        "rules": verdict.rules,
        "non_homogeneous": verdict.non_homogeneous,
        "measures": verdict.measures,
        "warnings": done.search.warnings,
        "guarded_cells": done.guarded,
        "times": times,
        "coded_bytes": done.search.coded_bytes,
        "tuples": done.search.tuples,
        "output": out.display().to_string(),
    })
}

/// Cost, bound and gap of a global recoding.
fn optimum(found: &Optimum) -> Value {
    json!({
        "cost": found.cost.name(),
        "value": found.value,
        "bound": found.bound,
        "gap": gap(found),
        "proven": found.is_proven,
        "nodes": found.nodes,
        "levels": found.levels,
        "minimal": found.minimal,
    })
}

/// Cost over bound; none when the bound is 0.
fn gap(found: &Optimum) -> Option<f64> {
    if found.is_proven { Some(1.0) } else { (found.bound > 0.0).then(|| found.value / found.bound) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_that_violates_a_rule_is_reported_as_our_bug() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"name,age\ncanary,30\ncanary,30\ncanary,31\n").unwrap();
        let request = Request::parse(
            "k = 2\n[columns]\nage = { role = \"quasi\" }\nname = { role = \"identifier\" }",
        )
        .unwrap();
        let csv = lookalike::table::file_type(Path::new("-")).unwrap();
        let verdict = pipeline::audit_file(file.path(), csv, &request).unwrap();
        assert!(!verdict.holds());
        let said = complaint(&verdict);
        for part in [
            "bug in lookalike",
            "was removed",
            "k = 2 on age is broken",
            "identifier `name` is in the release",
            "report it",
        ] {
            assert!(said.contains(part), "{said}");
        }
        assert!(!said.contains("canary"), "{said}");
    }
}
