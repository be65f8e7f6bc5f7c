//! `lookalike verify`: checks a release with independent code.

use std::path::Path;
use std::process::ExitCode;

use lookalike::audit::{self, AuditView, Finding, Proof, Statement, Verdict};
use lookalike::request::Role;
use lookalike::table::{Column, Table};
use lookalike::{ErrorKind, Request, Result, release::proof, table};
use serde_json::json;

use crate::NOT_MET;
use crate::args::VerifyArgs;
use crate::cmd::anonymize::{classes_line, group_words, in_sense, rule_lines};
use crate::pipeline;
use crate::request::usage;
use crate::show::{self, count};

pub(crate) fn run(args: &VerifyArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    args.released.apply_to(&mut request);
    request.non_homogeneous |= args.non_homogeneous || args.proof.is_some();
    let view =
        if args.source.is_some() { AuditView::ReleaseAgainstSource } else { AuditView::Release };
    let release = read(&args.release, &request, view)?;
    let verdict = match &args.source {
        None if request.non_homogeneous => {
            return Err(usage(
                "a non-homogeneous release can only be checked against its source: add --source DATA",
            ));
        }
        None => audit::audit(&release, &request)?,
        Some(source) if request.non_homogeneous => {
            let proof = args.proof.as_deref().map(proof).transpose()?;
            audit::audit_rings(
                &release,
                &read(source, &request, AuditView::Source)?,
                &request,
                proof.as_ref(),
            )?
        }
        Some(source) => {
            audit::audit_against(&release, &read(source, &request, AuditView::Source)?, &request)?
        }
    };
    let holds = verdict.holds();
    let printed = if args.json {
        let mut object = json!(verdict);
        object["version"] = json!(1);
        object["holds"] = json!(holds);
        show::json(&object)
    } else {
        show::print(&text(&verdict, &quasi(&release, &request)))
    };
    show::verdict(printed, if holds { 0 } else { NOT_MET })
}

fn proof(path: &Path) -> Result<Proof> {
    let file =
        std::fs::File::open(path).map_err(|source| ErrorKind::Io { path: path.into(), source })?;
    proof::read(std::io::BufReader::new(file))
}

/// Reads a table for the audit.
pub(crate) fn read(path: &Path, request: &Request, view: AuditView) -> Result<Table> {
    // The delimiter of the configuration is that of the source; the extension of a release selects
    // its own.
    let between = match view {
        AuditView::Source => request.input.delimiter,
        _ => table::file_type(path).ok().and_then(pipeline::delimiter),
    };
    pipeline::read_for_audit(path, between, request, view)
}

fn text(verdict: &Verdict, quasi: &[String]) -> String {
    let mut text =
        format!("rows      {}\n{}\n\nrules\n", count(verdict.measures.rows), classes_line(verdict));
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
    if let Some(truth) = &verdict.truth {
        text += "\nagainst the source\n";
        for Statement { finding, text: said } in &truth.statements {
            let mark = match finding {
                Finding::Ok => "ok    ",
                Finding::Partly => "partly",
                Finding::Broken => "BROKEN",
            };
            text += &format!("  {mark}  {said}\n");
        }
    }
    text.push('\n');
    text += &match &verdict.non_homogeneous {
        _ if !verdict.holds() => "NOT verified: the release does not satisfy the rules".to_string(),
        None => show::wrap(
            &format!("verified: {}-anonymous for these columns: ", verdict.measures.k),
            quasi,
        ),
        Some(sense) => format!("verified: {}", in_sense(sense, quasi)),
    };
    text.push('\n');
    text
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
