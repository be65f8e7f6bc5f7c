//! `lookalike verify`: checks a release with independent code.

use std::process::ExitCode;

use lookalike::Result;
use lookalike::audit::{Statement, Verdict};
use lookalike::run::Input;
use lookalike_report::proof::read_proof;
use lookalike_report::verify::{verify, verify_plan};

use crate::NOT_MET;
use crate::args::VerifyArgs;
use crate::cmd::anonymize::{classes_line, group_words, in_sense, rule_lines};
use crate::paths;
use crate::persons::{anonymous, mark, persons_line, reading_lines};
use crate::request::usage;
use crate::show::{self, count};
use serde_json::json;

pub(crate) fn run(args: &VerifyArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.released.apply_to(&mut request);
    let paths = paths::of_verify(args.release.as_ref(), args.source.as_ref(), &request)?;
    let of_source =
        [("--proof", args.proof.is_some()), ("--non-homogeneous", args.non_homogeneous)];
    if let Some((flag, _)) = of_source.iter().find(|(_, is_set)| *is_set && paths.source.is_none())
    {
        return Err(usage(format!("{flag} needs the source of the release: add --source DATA")));
    }
    let path = match &paths.source {
        Some(_) => paths::of_proof(args.proof.as_ref(), &paths.release, &request),
        None => None,
    };
    let proof = path.map(|path| read_proof(&path, &request)).transpose()?;
    request.non_homogeneous |= args.non_homogeneous;
    let found = match &args.plan_of {
        Some(counts) => verify_plan(&paths.release, counts, &request)?,
        None => {
            let source = paths.source.as_ref().map(Input::from);
            verify(&paths.release, source, &request, proof.as_ref())?
        }
    };
    let printed = if args.json {
        let mut object = found.json();
        object["release"] = json!(paths.release);
        object["source"] = json!(paths.source);
        show::json(&object)
    } else {
        let said = paths.said.filter(|_| args.plan_of.is_none());
        let said = said.map_or(String::new(), |said| format!("checked   {said}\n"));
        show::print(&(said + &text(&found.verdict, &found.quasi)))
    };
    show::verdict(printed, if found.verdict.holds() { 0 } else { NOT_MET })
}

fn text(verdict: &Verdict, quasi: &[String]) -> String {
    let mut text = format!(
        "rows      {}\n{}{}\n\nrules\n",
        count(verdict.measures.rows),
        persons_line(&verdict.measures),
        classes_line(verdict)
    );
    text += &show::indent(
        &verdict
            .rules
            .iter()
            .map(|rule| rule_lines(rule, quasi, group_words(verdict)))
            .collect::<String>(),
    );
    if !verdict.leaks.is_empty() {
        text += "\nleaks\n";
        verdict.leaks.iter().for_each(|leak| text += &format!("  LEAK    {leak}\n"));
    }
    if let Some(persons) = &verdict.persons {
        text += &reading_lines(persons);
    }
    if let Some(truth) = &verdict.truth {
        text += "\nagainst the source\n";
        for Statement { finding, text: said } in &truth.statements {
            text += &format!("  {}  {said}\n", mark(*finding));
        }
    }
    text.push('\n');
    text += &match &verdict.non_homogeneous {
        _ if !verdict.holds() => "NOT verified: the release does not satisfy the rules".to_string(),
        _ if undecided(verdict) > 0 => show::wrap(
            &format!(
                "verified in part: against the source {} of {} rows were NOT decided; {} for these \
                 columns: ",
                count(undecided(verdict)),
                count(verdict.measures.rows),
                anonymous(&verdict.measures)
            ),
            quasi,
        ),
        None => show::wrap(
            &format!("verified: {} for these columns: ", anonymous(&verdict.measures)),
            quasi,
        ),
        Some(sense) => format!("verified: {}", in_sense(sense, quasi)),
    };
    text.push('\n');
    text
}

/// Released rows that the comparison with the source did not decide.
fn undecided(verdict: &Verdict) -> u64 {
    verdict.truth.as_ref().map_or(0, |truth| truth.rows_undecided)
}
