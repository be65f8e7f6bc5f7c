//! `lookalike verify`: checks a release with independent code.

use std::process::ExitCode;

use lookalike::audit::{self, AuditView, Statement, Verdict};
use lookalike::request::Role;
use lookalike::run::{read_for_audit, verify_plan};
use lookalike::table::{Column, Table};
use lookalike::{Request, Result};
use serde_json::json;

use crate::NOT_MET;
use crate::args::VerifyArgs;
use crate::cmd::anonymize::{classes_line, group_words, in_sense, rule_lines};
use crate::persons::{ProofFile, anonymous, mark, persons_line, read_proof, reading_lines};
use crate::request::usage;
use crate::show::{self, count};

pub(crate) fn run(args: &VerifyArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.released.apply_to(&mut request);
    let proof = args.proof.as_deref().map(|path| read_proof(path, &request)).transpose()?;
    request.non_homogeneous |= args.non_homogeneous || matches!(proof, Some(ProofFile::Rings(_)));
    let (verdict, quasi) = match &args.plan_of {
        Some(counts) => verify_plan(&args.release, counts, &request)?,
        None => of_release(args, &request, proof.as_ref())?,
    };
    let holds = verdict.holds();
    let printed = if args.json {
        let mut object = json!(verdict);
        object["version"] = json!(1);
        object["holds"] = json!(holds);
        show::json(&object)
    } else {
        show::print(&text(&verdict, &quasi))
    };
    show::verdict(printed, if holds { 0 } else { NOT_MET })
}

/// The verdict on a release, and its quasi-identifiers.
fn of_release(
    args: &VerifyArgs,
    request: &Request,
    proof: Option<&ProofFile>,
) -> Result<(Verdict, Vec<String>)> {
    let view =
        if args.source.is_some() { AuditView::ReleaseAgainstSource } else { AuditView::Release };
    let release = read_for_audit(&args.release, request, view)?;
    let verdict = match &args.source {
        None if request.non_homogeneous => {
            return Err(usage(
                "a non-homogeneous release can only be checked against its source: add --source DATA",
            ));
        }
        None => audit::audit(&release, request)?,
        Some(source) => {
            let source = read_for_audit(source, request, AuditView::Source)?;
            match proof {
                Some(ProofFile::Origins(origins)) => {
                    audit::audit_persons(&release, &source, request, origins)?
                }
                Some(ProofFile::Rings(proof)) => {
                    audit::audit_rings(&release, &source, request, Some(proof))?
                }
                None if request.non_homogeneous => {
                    audit::audit_rings(&release, &source, request, None)?
                }
                None => audit::audit_against(&release, &source, request)?,
            }
        }
    };
    Ok((verdict, quasi(&release, request)))
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

/// The quasi-identifiers in the order of the release, which may publish one as two columns of
/// bounds.
pub(crate) fn quasi(release: &Table, request: &Request) -> Vec<String> {
    let is_quasi = |name: &str| request.column(name).is_some_and(|line| line.role == Role::Quasi);
    let of = |column: &Column| {
        [column.name.as_str()]
            .into_iter()
            .chain(column.name.strip_suffix("_min"))
            .find(|name| is_quasi(name))
            .map(String::from)
    };
    release.columns().iter().filter_map(of).collect()
}
