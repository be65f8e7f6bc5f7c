//! The experiments of four papers again: CSV files, plots, a page and a table of claims.
//!
//! The crate knows no terminal. A caller (`lookalike reproduce` is one) says what to run with
//! [`Reproduction`], then calls [`prepare`], [`run`] and [`write()`]; [`Event`]s report
//! progress, and a flag ends a search.

pub mod claims;
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

pub use lab::{Outcomes, Stop};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lookalike::numbers;
use lookalike::table::{self, Access, Existing, Pending};
use lookalike::{Error, Hint, Result};

use claims::Claim;
use data::{AdultPart, AdultRows, Data};
use figure::Figure;
use lab::Lab;

/// A paper whose experiments are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// Xu et al., Utility-Based Anonymization Using Local Recoding.
    Xu2006,
    /// Li and Li, Towards Optimal k-Anonymization.
    Li2008,
    /// He et al., Clustering-Based k-Anonymity.
    He2012,
    /// Wong et al., (alpha,k)-Anonymity.
    Wong2006,
}

impl Paper {
    /// Every paper, in the order of the page.
    pub const ALL: [Paper; 4] = [Paper::Xu2006, Paper::Li2008, Paper::He2012, Paper::Wong2006];

    /// `xu2006`: the name on the command line and of the folder of figures.
    pub fn name(self) -> &'static str {
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
                "J. Xu, W. Wang, J. Pei, X. Wang, B. Shi, A. Fu: Utility-Based Anonymization Using \
                 Local Recoding, KDD 2006 (numbers of figures: extended version). MultiDim is \
                 `mondrian`; `-row` are other readings of the paper."
            }
            Paper::Li2008 => {
                "T. Li, N. Li: Towards Optimal k-Anonymization, DKE 2008. The search is `optimal`."
            }
            Paper::He2012 => {
                "X. He, H. Chen, Y. Chen, Y. Dong, P. Wang, Z. Huang: Clustering-Based \
                 k-Anonymity, PAKDD 2012. CB is `cluster`, NH is `ring`. SAL and INCOME are \
                 made-up stand-ins with the published domain sizes: their people are not the \
                 paper's."
            }
            Paper::Wong2006 => {
                "R. Wong, J. Li, A. Fu, K. Wang: (alpha,k)-Anonymity, KDD 2006. Top Down is \
                 `specialize`, eIncognito is `incognito` under the same rule."
            }
        }
    }
}

/// Which experiments to run, on which tables, and the folder for the results.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// Run in this order.
    pub papers: Vec<Paper>,
    /// The folder of the real tables, if there is one.
    pub data: Option<PathBuf>,
    /// True for smaller experiments: minutes instead of an hour.
    pub quick: bool,
    /// The folder for everything that is written.
    pub output: PathBuf,
    /// True to replace figures, page and claims that exist; stored runs are kept in any case.
    pub force: bool,
}

/// Progress of the experiments.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The experiments of this paper begin.
    Paper(&'static str),
    /// A run begins; `run 3: adult, 4 columns, optimal, k = 5`.
    Run(&'a str),
    /// A warning; the experiments go on.
    Warning(&'a str),
}

/// Figures and claims of one paper, or of several.
#[derive(Debug, Default)]
struct PaperResults {
    figures: Vec<Figure>,
    claims: Vec<Claim>,
}

/// Figures and claims of all papers, and how many runs they took.
#[derive(Debug, Default)]
pub struct Results {
    papers: PaperResults,
    /// Runs that were made now.
    pub made: u64,
    /// Runs that were in the folder from earlier calls.
    pub stored: u64,
}

impl Results {
    /// Every claim, in the order of the papers.
    pub fn claims(&self) -> &[Claim] {
        &self.papers.claims
    }
}

/// The real tables that were found.
#[derive(Debug, Default)]
pub struct RealTables {
    training: Option<AdultRows>,
    both: Option<AdultRows>,
    survey: Option<Data>,
}

/// Makes the folders and reads the real tables.
///
/// # Errors
/// [`Request`](lookalike::ErrorKind::Request) when results would be replaced or the data folder has no table
/// that an experiment uses, [`Data`](lookalike::ErrorKind::Data) when a table is wrong.
pub fn prepare(what: &Reproduction, notify: &dyn Fn(Event<'_>)) -> Result<RealTables> {
    if let Some(folder) = &what.data {
        data::check_folder(folder)?;
    }
    let folders =
        || ["reproduction"].into_iter().chain(what.papers.iter().map(|paper| paper.name()));
    for folder in ["", "runs"].into_iter().chain(folders()) {
        make(&what.output.join(folder))?;
    }
    // A target that cannot be written is reported before an hour of runs.
    for file in ["claims.csv", "claims.json", "reproduction.md"] {
        drop(Pending::beside(&what.output.join(file), Existing::overwrite_if(what.force))?);
    }
    for folder in folders().map(|name| what.output.join(name)) {
        if !what.force && std::fs::read_dir(&folder).is_ok_and(|mut files| files.next().is_some()) {
            let why = format!("{} has figures", folder.display());
            return Err(Error::request("folder-has-figures", why)
                .hint(Hint::plain("choose another folder"))
                .hint(Hint::Overwrite));
        }
    }
    read(what.data.as_deref(), &what.papers, notify)
}

fn make(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|source| Error::io(folder, source))
}

/// Reads the tables that the experiments of these papers use.
fn read(folder: Option<&Path>, papers: &[Paper], notify: &dyn Fn(Event<'_>)) -> Result<RealTables> {
    let Some(folder) = folder else { return Ok(RealTables::default()) };
    let wants = |some: &[Paper]| some.iter().any(|paper| papers.contains(paper));
    let part = |part: AdultPart, wanted: bool, rows: usize| {
        let found = if wanted { data::adult(folder, part)? } else { None };
        if let Some(found) = found.as_ref().filter(|found| found.len() != rows) {
            let (has, should) = (numbers::count(found.len() as u64), numbers::count(rows as u64));
            notify(Event::Warning(&format!(
                "{} has {has} complete rows of Adult where the papers have {should}",
                folder.display()
            )));
        }
        Ok::<_, Error>(found)
    };
    Ok(RealTables {
        training: part(AdultPart::Training, wants(&[Paper::Xu2006, Paper::Li2008]), 30_162)?,
        both: part(AdultPart::Both, wants(&[Paper::Wong2006]), 45_222)?,
        survey: if wants(&[Paper::He2012]) { data::survey(folder)? } else { None },
    })
}

/// Runs one paper after the other. Every run that ended is stored in the folder, so that the same
/// call goes on where `cancel` stopped it.
///
/// # Errors
/// [`Stop`] says why the experiments ended early.
pub fn run(
    what: &Reproduction,
    tables: &RealTables,
    cancel: &Arc<AtomicBool>,
    notify: &dyn Fn(Event<'_>),
) -> Outcomes<Results> {
    let mut all = Results::default();
    for &paper in &what.papers {
        notify(Event::Paper(paper.name()));
        let lab = Lab::new(what.quick, &what.output, cancel, notify)?;
        let results = match paper {
            Paper::Xu2006 => xu2006::run(&lab, tables.training.as_ref()),
            Paper::Li2008 => li2008::run(&lab, tables.training.as_ref()),
            Paper::He2012 => he2012::run(&lab, tables.survey.as_ref()),
            Paper::Wong2006 => wong2006::run(&lab, tables.both.as_ref()),
        }
        .map_err(Stop::of_table)?;
        let (made, stored) = lab.counts.get();
        (all.made, all.stored) = (all.made + made, all.stored + stored);
        all.papers.figures.extend(results.figures);
        all.papers.claims.extend(results.claims);
    }
    Ok(all)
}

/// Writes figures, plots, page and claims.
///
/// # Errors
/// [`Io`](lookalike::ErrorKind::Io) and [`Request`](lookalike::ErrorKind::Request) when a file cannot be written.
pub fn write(what: &Reproduction, tables: &RealTables, results: &Results) -> Result<()> {
    let put = |path: PathBuf, text: &str| {
        table::write_text(&path, Existing::overwrite_if(what.force), Access::Usual, text)
    };
    let PaperResults { figures, claims } = &results.papers;
    for figure in figures {
        let csv = what.output.join(figure.paper).join(format!("{}.csv", figure.name));
        put(csv, &figure.csv())?;
        let plot = format!("{}.svg", page::picture(figure));
        put(what.output.join("reproduction").join(plot), &figure.picture())?;
    }
    let rows = |name: &str, rows: usize| format!("{name}, {} rows", numbers::count(rows as u64));
    let adult = [("Adult, training part", &tables.training), ("Adult, both parts", &tables.both)];
    let mut known: Vec<String> =
        adult.iter().filter_map(|(name, found)| Some(rows(name, found.as_ref()?.len()))).collect();
    known.extend(tables.survey.as_ref().map(|data| rows("ACS 2018", data.table.rows())));
    let about = page::About {
        papers: &what.papers,
        quick: what.quick,
        has_data: what.data.is_some(),
        tables: &known,
    };
    put(what.output.join("reproduction.md"), &page::page(&about, figures, claims))?;
    put(what.output.join("claims.csv"), &claims::csv(claims))?;
    let json = format!("{:#}\n", claims::json(claims, what.quick));
    put(what.output.join("claims.json"), &json)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn a_stopped_experiment_keeps_the_runs_that_ended_and_continues_there() {
        let folder = tempfile::tempdir().unwrap();
        let what = Reproduction {
            papers: vec![Paper::Xu2006],
            data: None,
            quick: true,
            output: folder.path().join("out"),
            force: false,
        };
        let runs = || std::fs::read_dir(what.output.join("runs")).unwrap().count();
        for (stop_at, stored) in [(3, 2), (1, 2)] {
            let (cancel, labels) = (Arc::new(AtomicBool::new(false)), RefCell::new(Vec::new()));
            let notify = |event: Event<'_>| {
                if let Event::Run(label) = event {
                    labels.borrow_mut().push(label.to_string());
                    cancel.store(labels.borrow().len() == stop_at, Ordering::SeqCst);
                }
            };
            let tables = prepare(&what, &notify).unwrap();
            let stopped = run(&what, &tables, &cancel, &notify);
            assert!(matches!(stopped, Err(Stop::Interrupted)), "{stopped:?}");
            assert_eq!(runs(), stored);
            // The second time, the first two runs are read.
            assert!(labels.borrow()[stop_at - 1].starts_with("run 3: "), "{labels:?}");
        }
        assert!(!what.output.join("claims.csv").exists());
    }
}
