//! `lookalike reproduce`: the experiments of four papers again, as CSV files, pictures, a page and
//! a table of claims.

mod claims;
mod data;
mod figure;
mod he2012;
mod lab;
mod li2008;
mod page;
mod store;
mod taxonomies;
mod wong2006;
mod xu2006;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lookalike::table::{Existing, Pending};
use lookalike::{Error, ErrorKind, Result};

use crate::args::{Global, Reproduce};
use crate::cmd::write_text;
use crate::progress::Progress;
use crate::request::usage;
use crate::{BUG, INTERRUPTED, interrupt, show};
use claims::Claim;
use data::{Data, Part, Rows};
use figure::Figure;
use lab::{Lab, Outcomes, Stop};

/// A paper whose experiments are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paper {
    Xu2006,
    Li2008,
    He2012,
    Wong2006,
}

impl Paper {
    const ALL: [Paper; 4] = [Paper::Xu2006, Paper::Li2008, Paper::He2012, Paper::Wong2006];

    fn name(self) -> &'static str {
        match self {
            Paper::Xu2006 => "xu2006",
            Paper::Li2008 => "li2008",
            Paper::He2012 => "he2012",
            Paper::Wong2006 => "wong2006",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Paper::Xu2006 => {
                "J. Xu, W. Wang, J. Pei, X. Wang, B. Shi, A. Fu: Utility-Based Anonymization Using Local Recoding, KDD 2006 (numbers of \
                 figures: extended version). MultiDim is `mondrian`; `-row` are other readings of the paper."
            }
            Paper::Li2008 => {
                "T. Li, N. Li: Towards Optimal k-Anonymization, DKE 2008. The search is `optimal`."
            }
            Paper::He2012 => {
                "X. He, H. Chen, Y. Chen, Y. Dong, P. Wang, Z. Huang: Clustering-Based k-Anonymity, PAKDD 2012. CB is `cluster`, NH is \
                 `ring`. SAL and INCOME are made-up stand-ins with the published domain sizes: their people are not the paper's."
            }
            Paper::Wong2006 => {
                "R. Wong, J. Li, A. Fu, K. Wang: (alpha,k)-Anonymity, KDD 2006. Top Down is `specialize`, eIncognito is `incognito` under \
                 the same rule."
            }
        }
    }
}

/// What the experiments of a paper gave.
#[derive(Debug, Default)]
struct Report {
    figures: Vec<Figure>,
    claims: Vec<Claim>,
}

/// The real tables that were found.
#[derive(Debug, Default)]
struct Tables {
    training: Option<Rows>,
    both: Option<Rows>,
    survey: Option<Data>,
}

/// Runs the command.
pub(crate) fn run(args: &Reproduce, global: &Global) -> Result<ExitCode> {
    let papers: Vec<Paper> = Paper::ALL
        .into_iter()
        .filter(|paper| args.paper == "all" || args.paper == paper.name())
        .collect();
    if let Some(folder) = &args.data {
        data::check_folder(folder)?;
    }
    let folders = || ["reproduction"].into_iter().chain(papers.iter().map(|paper| paper.name()));
    for folder in ["", "runs", "hierarchies"].into_iter().chain(folders()) {
        make(&args.output.join(folder))?;
    }
    // What could not be written in the end is found out before an hour of runs.
    for file in ["claims.csv", "claims.json", "reproduction.md"] {
        drop(Pending::beside(&args.output.join(file), Existing::overwrite_if(args.force))?);
    }
    for folder in folders().map(|name| args.output.join(name)) {
        if !args.force && std::fs::read_dir(&folder).is_ok_and(|mut files| files.next().is_some()) {
            return Err(usage(format!(
                "{} has figures: choose another folder or add --force",
                folder.display()
            )));
        }
    }
    let mut progress = Progress::new(global.quiet);
    progress.stage("read");
    let tables = read(args.data.as_deref(), &papers, &progress)?;
    let done = interrupt::during_search(interrupt::EXPERIMENTS, || {
        experiments(args, &papers, &tables, &mut progress)
    });
    progress.end();
    match done {
        Ok((report, made)) => {
            tell(args, &papers, &tables, &report)?;
            if !global.quiet {
                let (new, old) = (show::counted(made.0, "run", "runs"), show::count(made.1));
                show::say(&format!(
                    "{new} made, {old} taken from {}; figures and page are in {}",
                    show::path(&args.output.join("runs")),
                    show::path(&args.output)
                ));
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(Stop::Interrupted) => {
            show::say(&format!(
                "interrupted: the runs that ended are kept in {}, and the same command goes on from there",
                show::path(&args.output.join("runs"))
            ));
            Ok(ExitCode::from(INTERRUPTED))
        }
        Err(Stop::Broken(what)) => {
            show::error(&format!(
                "this is a bug in lookalike: {what}; please report it with the command that you ran"
            ));
            Ok(ExitCode::from(BUG))
        }
        // The trees are ours: a value that they do not have is a fault of the table.
        Err(Stop::Failed(error)) => Err(match error.kind() {
            ErrorKind::Hierarchy { why, .. } => {
                let why = why
                    .split(": add a line")
                    .next()
                    .unwrap_or_default()
                    .replace("the file", "Adult as UCI gives it out");
                ErrorKind::Data { why: format!("{why}: fetch it again") }.into()
            }
            _ => error,
        }),
    }
}

fn make(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|source| Error::from(ErrorKind::Io { path: folder.to_path_buf(), source }))
}

/// Reads what the experiments of these papers use.
fn read(folder: Option<&Path>, papers: &[Paper], progress: &Progress) -> Result<Tables> {
    let Some(folder) = folder else { return Ok(Tables::default()) };
    let wants = |some: &[Paper]| some.iter().any(|paper| papers.contains(paper));
    let part = |part: Part, wanted: bool, rows: usize| {
        let found = if wanted { data::adult(folder, part)? } else { None };
        if let Some(found) = found.as_ref().filter(|found| found.len() != rows) {
            let (has, should) = (show::count(found.len() as u64), show::count(rows as u64));
            progress.warn(&format!(
                "{} has {has} complete rows of Adult where the papers have {should}",
                folder.display()
            ));
        }
        Ok::<_, Error>(found)
    };
    Ok(Tables {
        training: part(Part::Training, wants(&[Paper::Xu2006, Paper::Li2008]), 30_162)?,
        both: part(Part::Both, wants(&[Paper::Wong2006]), 45_222)?,
        survey: if wants(&[Paper::He2012]) { data::survey(folder)? } else { None },
    })
}

/// Runs one paper after the other. Also returns how many runs were made and how many were there.
fn experiments(
    args: &Reproduce,
    papers: &[Paper],
    tables: &Tables,
    progress: &mut Progress,
) -> Outcomes<(Report, (u64, u64))> {
    let mut all = Report::default();
    let (mut made, mut there) = (0, 0);
    for &paper in papers {
        progress.stage(paper.name());
        let lab = Lab::new(args.quick, &args.output, progress)?;
        let report = match paper {
            Paper::Xu2006 => xu2006::run(&lab, tables.training.as_ref())?,
            Paper::Li2008 => li2008::run(&lab, tables.training.as_ref())?,
            Paper::He2012 => he2012::run(&lab, tables.survey.as_ref())?,
            Paper::Wong2006 => wong2006::run(&lab, tables.both.as_ref())?,
        };
        let (new, old) = lab.counts.get();
        (made, there) = (made + new, there + old);
        all.figures.extend(report.figures);
        all.claims.extend(report.claims);
    }
    Ok((all, (made, there)))
}

/// Writes figures, pictures, page and claims, and prints the claims.
fn tell(args: &Reproduce, papers: &[Paper], tables: &Tables, report: &Report) -> Result<()> {
    let existing = Existing::overwrite_if(args.force);
    for figure in &report.figures {
        write_text(
            &args.output.join(figure.paper).join(format!("{}.csv", figure.name)),
            existing,
            &figure.csv(),
        )?;
        let picture = format!("{}.svg", page::picture(figure));
        write_text(&args.output.join("reproduction").join(picture), existing, &figure.picture())?;
    }
    let rows = |name: &str, rows: usize| format!("{name}, {} rows", show::count(rows as u64));
    let adult = [("Adult, training part", &tables.training), ("Adult, both parts", &tables.both)];
    let mut known: Vec<String> =
        adult.iter().filter_map(|(name, found)| Some(rows(name, found.as_ref()?.len()))).collect();
    known.extend(tables.survey.as_ref().map(|data| rows("ACS 2018", data.table.rows())));
    let about =
        page::About { papers, quick: args.quick, has_data: args.data.is_some(), tables: &known };
    let text = page::page(&about, &report.figures, &report.claims);
    let file = |name: &str| -> PathBuf { args.output.join(name) };
    write_text(&file("reproduction.md"), existing, &text)?;
    write_text(&file("claims.csv"), existing, &claims::csv(&report.claims))?;
    write_text(
        &file("claims.json"),
        existing,
        &format!("{:#}\n", claims::json(&report.claims, args.quick)),
    )?;
    show::print(&claims::table(&report.claims))
}
