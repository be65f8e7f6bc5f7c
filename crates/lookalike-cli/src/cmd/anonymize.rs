//! `lookalike anonymize`: search, write, read back, verify.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lookalike::audit::{NonHomogeneous, RuleVerdict, Verdict};
use lookalike::evaluate::purpose::PurposeWeight;
use lookalike::request::Persons;
use lookalike::run::{FoundPersons, Report, Run};
use lookalike::search::global::Optimum;
use lookalike::table::{self, Existing, real_place};
use lookalike::{Request, Result, Status, search::tuning::Tuning};
use lookalike_report::codebook::page;
use lookalike_report::words::{CLASSES, GroupWords, has_rule, members, ratio, rule_line};
use serde_json::json;

use crate::args::{AnonymizeArgs, GlobalArgs};
use crate::cmd::saved_config::{self, Config};
use crate::cmd::{beside, legend};
use crate::persons::anonymous;
use crate::progress::RunProgress;
use crate::request::{self, usage};
use crate::show::{self, count, counted, percent};
use crate::{bounds, files, hints, interrupt};

pub(crate) fn run(args: &AnonymizeArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.release.apply_to(&mut request)?;
    let data = request::data(args.data.as_ref(), &request)?;
    let out = output(args.output.as_ref(), &request)?;
    request.seed = args.seed.or(request.seed);
    if args.proof.is_some() {
        request.output.proof.clone_from(&args.proof);
    } else {
        refuse_other_proof(&out, &request)?;
    }
    let reads = files::of_request(&args.request, &request);
    let existing = Existing::overwrite_if(args.force);
    let config = saved_config::config(args, &request, (&data, &out), &reads)?;
    let mut run = Run::new(&request)
        .techniques(args.release.how.techniques())
        .tuning(tuning(&args.tune)?)
        .bound(args.release.how.bound)
        .verify(args.verify)
        .existing(existing)
        .also_reads(reads);
    if let Some(path) = &request.output.proof {
        run = run.proof(path);
    }
    if let Some(path) = &args.recoding {
        run = run.recoding(path);
    }
    let proof = request.output.proof.as_deref();
    make(run, &Product::Release(config, proof), (&data, &out), args.json, global)
}

/// The proof of the configuration belongs to the release of the configuration: another release would
/// take its place, and the first one could not be verified any more.
fn refuse_other_proof(out: &Path, request: &Request) -> Result<()> {
    let (Some(own), Some(proof)) = (&request.output.path, &request.output.proof) else {
        return Ok(());
    };
    if real_place(own) == real_place(out) {
        return Ok(());
    }
    Err(usage(format!(
        "the proof {} of the configuration belongs to its release {}: name a proof for this one, \
         --proof FILE",
        show::path(proof),
        show::path(own)
    )))
}

/// The tuned numbers that ship, but for those that `--tune NAME=VALUE` changes.
fn tuning(settings: &[String]) -> Result<Tuning> {
    let mut tuning = Tuning::default();
    for setting in settings {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let value = value.parse().unwrap_or(f64::NAN);
        tuning.set(name, value).map_err(|why| usage(format!("--tune {setting}: {why}")))?;
    }
    Ok(tuning)
}

/// The product of a run.
#[derive(Debug)]
pub(crate) enum Product<'a> {
    /// Its configuration, and the file of its proof.
    Release(Config<'a>, Option<&'a Path>),
    Plan,
}

/// Makes a release or a plan from one file to another, and prints its numbers.
pub(crate) fn make(
    run: Run,
    product: &Product<'_>,
    (data, out): (&Path, &Path),
    json: bool,
    global: &GlobalArgs,
) -> Result<ExitCode> {
    let to_stream = out == Path::new("-");
    if json && to_stream {
        return Err(usage(
            "--json and the release would both go to standard output: name a file for the release, \
             -o FILE",
        ));
    }
    let progress = RunProgress::new(global.quiet, to_stream);
    let watch = |event: lookalike::run::Event| progress.event(event);
    let run = run.cancel(interrupt::of_run()).watch(&watch).codebook_page(page);
    let beside = run.codebook_files(out);
    let done = match product {
        Product::Release(..) => run.to_file(data, out)?,
        Product::Plan => run.plan_to_file(data, out)?,
    };
    if let Product::Release(config, _) = product {
        config.write(&done.found.purpose)?;
    }
    progress.end();
    if !global.quiet {
        let mut summary = summary(&done, progress.total(), out);
        for path in &beside {
            summary += &format!("          {}\n", show::path(path));
        }
        if let Product::Release(config, proof) = product {
            if let Some(proof) = proof {
                summary += &format!(
                    "          {} (whose row is whose: as secret as the table)\n",
                    show::path(proof)
                );
            }
            summary += &config.line();
        }
        // For people; a log has the same lines in every run.
        if std::io::stderr().is_terminal() {
            summary += &format!("\n{}", legend::legend(&done, legend::Shown::Summary));
        }
        table::undisturbed(|| show::say(summary.trim_end()));
    }
    let printed = if json {
        let mut object = json!(done);
        object["output"] = json!(out.display().to_string());
        let warnings: Vec<String> = done.found.warnings.iter().map(hints::warning).collect();
        object["warnings"] = json!(warnings);
        show::json(&object)
    } else {
        Ok(())
    };
    show::verdict(printed, 0).inspect_err(|_| {
        show::say(&format!(
            "note      {} is written and verified, but its numbers could not be printed",
            show::path(out)
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

/// The summary at the end of a run.
fn summary(done: &Report, seconds: f64, out: &Path) -> String {
    let verdict = &done.verdict;
    let mut text = String::new();
    let suppressed = match done.found.suppressed {
        0 => "none suppressed".to_string(),
        some => format!("{} suppressed, {}", count(some), percent(ratio(some, done.found.rows))),
    };
    text += &format!(
        "rows      {} read, {} released ({suppressed})\n",
        count(done.found.rows),
        count(verdict.measures.rows)
    );
    if let Some(persons) = &done.found.persons {
        text += &persons_lines(persons);
    }
    text += &format!("{}\n", classes_line(verdict));
    if let Some(line) = suppression_line(done) {
        text += &format!(
            "loss      {line}\n          with the suppressed rows, which are wholly lost: "
        );
    } else {
        text += "loss      ";
    }
    text += &format!("{}\n", loss_line(done));
    text += &weights_lines(&done.found.purpose);
    if let Some(bound) = &done.found.bound {
        let scope = done.found.bound_scope;
        let is_all = done.found.generalized.iter().all(|shown| shown.weight > 0.0);
        text +=
            &format!("bound     {}\n", bounds::words(bound, done.found.loss.ncp, is_all, scope));
    }
    if let Some(unique) = &done.found.unique {
        text += &beside::lines(unique, verdict.measures.rows);
    }
    if let Some(sense) = &verdict.non_homogeneous {
        text += &format!(
            "verified  {}\n",
            in_sense(sense, &done.found.quasi).replace('\n', "\n          ")
        );
    } else if verdict.rules.iter().any(|rule| rule.rule.starts_with("k = ")) {
        text += &show::wrap(
            &format!("verified  {} for these columns: ", anonymous(&verdict.measures)),
            &done.found.quasi,
        );
        text.push('\n');
    }
    for rule in &verdict.rules {
        text +=
            &format!("          {}\n", rule_line(rule, &done.found.quasi, group_words(verdict)));
    }
    text += &format!("          {}\n", comparison_line(done));
    // A sensitive column without a rule is published too: warn about its worst class.
    let unruled =
        verdict.measures.sensitive.iter().filter(|column| !has_rule(verdict, &column.column));
    for column in unruled.filter(|_| verdict.non_homogeneous.is_none()) {
        let (share, far) = (percent(column.alpha), show::decimal(column.t_equal));
        text += &format!(
            "note      {} is published unchanged without a rule: one value has up to {share} of a \
             class, and t is {far}\n",
            show::clean(&column.column)
        );
    }
    if let Some(found) = &done.found.optimum {
        text += &format!("{}\n", optimum_line(found));
        if !found.levels.is_empty() {
            text += &format!("{}\n", levels_lines(found, &done.found.quasi));
        }
    }
    if done.found.status == Status::Stopped {
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
    text += &format!("time      {}\n", show::seconds(seconds));
    text += &format!("written   {}\n", show::path(out));
    text
}

/// The persons, how they are counted and what that means.
fn persons_lines(persons: &FoundPersons) -> String {
    let suppressed = match persons.suppressed {
        Some(some) if some > 0 => format!(" ({} suppressed)", count(some)),
        _ => String::new(),
    };
    let mut text = format!(
        "persons   {}{suppressed}, counted by {}: {}\n",
        count(persons.count),
        if persons.reading == Persons::Whole { "person" } else { "row" },
        persons.meaning()
    );
    if persons.changing > 0 {
        text += &format!(
            "          {} over their rows\n",
            counted(persons.changing, "person changes", "persons change")
        );
    }
    text
}

/// Whether the release was compared with its source.
fn comparison_line(done: &Report) -> &'static str {
    match &done.verdict.truth {
        Some(_) if done.is_compared() => {
            "ok      every released row covers a source row of its own"
        }
        Some(_) => "ok      rows were compared with the source in part",
        None => "rows were not compared with the source (--verify source does it)",
    }
}

/// The cost of a global recoding, and whether it is the minimum.
fn optimum_line(found: &Optimum) -> String {
    let (name, value) = (found.cost.name().to_uppercase(), show::decimal(found.value));
    match found.gap() {
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
            members(verdict.measures.k, verdict.measures.unit())
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

/// The loss in one line, and the column that loses most.
pub(crate) fn loss_line(done: &Report) -> String {
    let loss = &done.found.loss;
    let is_all = done.found.generalized.iter().all(|shown| shown.weight > 0.0);
    let of = if is_all { "" } else { " of the columns with a weight above 0" };
    let mut text = format!("{} of the detail{of} (GCP; NCP {:.1})", percent(loss.gcp), loss.ncp);
    let worst = done
        .found
        .quasi
        .iter()
        .zip(&loss.by_attribute)
        .max_by(|a, b| a.1.total_cmp(b.1))
        .filter(|_| loss.ncp > 0.0);
    if let Some((name, lost)) = worst {
        text += &format!(", {} of it in column {name}", percent(lost / loss.ncp));
    }
    // A loss of 0 must not hide the generalization of columns with weight 0.
    for (name, shown) in done
        .found
        .quasi
        .iter()
        .zip(&done.found.generalized)
        .filter(|(_, shown)| shown.weight <= 0.0)
    {
        text += &format!(
            "\n          column {name} has weight 0 and is not counted: {} of its cells are generalized",
            percent(shown.generalized)
        );
    }
    text
}

/// The weights for the purpose; empty without one.
fn weights_lines(weights: &[PurposeWeight]) -> String {
    if weights.is_empty() {
        return String::new();
    }
    let one = |one: &PurposeWeight| {
        let given = if one.is_given { " (given)" } else { "" };
        format!("{} {}{given}", show::clean(&one.name), one.weight)
    };
    let list: Vec<String> = weights.iter().map(one).collect();
    format!("{}\n", show::wrap("weights   for the purpose: ", &list))
}

/// The loss of the published rows, and what the suppressed ones bought.
fn suppression_line(done: &Report) -> Option<String> {
    let published = done.found.published;
    let lost = percent(published.gcp);
    match published.bought() {
        _ if done.found.suppressed == 0 => None,
        Some(before) => Some(format!(
            "{lost} of the detail of the published rows, instead of {} without suppression",
            percent(before)
        )),
        None => Some(format!("{lost} of the detail of the published rows")),
    }
}

/// Classes; in a non-homogeneous release, the windows of rows that one person could be.
pub(crate) fn group_words(verdict: &Verdict) -> GroupWords {
    if verdict.non_homogeneous.is_some() { ("window", "windows") } else { CLASSES }
}

/// The result of a rule, and below it the worst classes that violate it: sizes and shares, no value.
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
