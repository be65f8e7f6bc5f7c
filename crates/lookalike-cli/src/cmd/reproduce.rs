//! `lookalike reproduce`: the experiments of four papers again. The work is in the crate
//! `lookalike-lab`; this file connects it to the terminal and to Ctrl-C.

use std::cell::RefCell;
use std::process::ExitCode;

use lookalike::Result;
use lookalike_lab::{Event, Paper, Reproduction, Results, Stop, claims};

use crate::args::{GlobalArgs, ReproduceArgs};
use crate::progress::StageProgress;
use crate::{BUG, INTERRUPTED, interrupt, show};

pub(crate) fn run(args: &ReproduceArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let is_asked = |paper: &Paper| args.paper == "all" || args.paper == paper.name();
    let what = Reproduction {
        papers: Paper::ALL.into_iter().filter(is_asked).collect(),
        data: args.data.clone(),
        quick: args.quick,
        output: args.output.clone(),
        force: args.force,
    };
    let progress = RefCell::new(StageProgress::new(global.quiet));
    let notify = |event: Event<'_>| match event {
        Event::Paper(name) => progress.borrow_mut().stage(name),
        Event::Run(label) => progress.borrow().at(label),
        Event::Warning(text) => progress.borrow().warn(text),
    };
    progress.borrow_mut().stage("read");
    let tables = lookalike_lab::prepare(&what, &notify)?;
    let done = interrupt::during_search(interrupt::EXPERIMENTS, || {
        lookalike_lab::run(&what, &tables, &interrupt::cancel(), &notify)
    });
    progress.borrow_mut().end();
    match done {
        Ok(results) => {
            lookalike_lab::write(&what, &tables, &results)?;
            show::print(&claims::table(results.claims()))?;
            if !global.quiet {
                show::say(&summary(&what, &results));
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(Stop::Interrupted) => {
            show::say(&format!(
                "interrupted: the finished runs are kept in {}; the same command continues from \
                 there",
                show::path(&what.output.join("runs"))
            ));
            Ok(ExitCode::from(INTERRUPTED))
        }
        Err(Stop::Broken(what)) => {
            show::error(&show::bug(&what));
            Ok(ExitCode::from(BUG))
        }
        Err(Stop::Failed(error)) => Err(error),
    }
}

fn summary(what: &Reproduction, results: &Results) -> String {
    format!(
        "{} made, {} read from {}; figures and page are in {}",
        show::counted(results.made, "run", "runs"),
        show::count(results.stored),
        show::path(&what.output.join("runs")),
        show::path(&what.output)
    )
}
