//! The page: for each paper its claims, what was measured, and the pictures.

use crate::Paper;
use crate::claims::{Claim, ClaimStatus, WORDS};
use crate::figure::Figure;

/// Facts about the run, for the page.
#[derive(Debug)]
pub(crate) struct About<'a> {
    pub(crate) papers: &'a [Paper],
    pub(crate) quick: bool,
    /// Whether a folder with tables was named.
    pub(crate) has_data: bool,
    /// Each table that was read from a file, in words.
    pub(crate) tables: &'a [String],
}

/// The page in Markdown, its pictures in the folder `reproduction` beside it.
pub(crate) fn page(about: &About, figures: &[Figure], claims: &[Claim]) -> String {
    let count =
        |verdict: ClaimStatus| claims.iter().filter(|claim| claim.verdict == verdict).count();
    let papers = if about.papers.len() == Paper::ALL.len() {
        "all"
    } else {
        about.papers.first().map_or("all", |paper| paper.name())
    };
    let data = if about.has_data { " --data DATA" } else { "" };
    let quick = if about.quick { " --quick" } else { "" };
    let mut text = String::from("# The papers' experiments, again\n\n");
    if about.quick {
        text += "This page is from a quick run: fewer k, smaller tables, fewer queries and one second for each exact search. Without `--quick` the \
                 experiments have the papers' sizes.\n\n";
    }
    text += &format!(
        "Everything on this page was written by this command (version {}):\n\n",
        env!("CARGO_PKG_VERSION")
    );
    text += &format!("```text\nlookalike reproduce {papers}{data}{quick} -o OUT\n```\n\n");
    text += &format!(
        "Of {} claims {} hold, {} do not, and {} were not run. Claims that do not hold stand here as such; no search was tuned. Seconds depend on the machine and on what else it did; searches have one thread each, and only orders and ratios of times are \
         judged. {WORDS}\n\n",
        claims.len(),
        count(ClaimStatus::Holds),
        count(ClaimStatus::Fails),
        count(ClaimStatus::NotRun)
    );
    if about.tables.is_empty() {
        text += "No real table was at hand: what needs one was not run.\n\n";
    } else {
        text += &format!(
            "RealTables: {}. All others are made up, from a seed.\n\n",
            about.tables.join("; ")
        );
    }
    for paper in about.papers {
        text += &format!("## {}\n\n{}\n\n", paper.name(), paper.title());
        text += "| claim | the paper | measured | | remark |\n|---|---|---|---|---|\n";
        for claim in claims.iter().filter(|claim| claim.paper == paper.name()) {
            let cells =
                [claim.claim, claim.says, &claim.measured, claim.verdict.text(), &claim.remark];
            text += &format!(
                "| {} |\n",
                cells.map(|cell| cell.replace('|', "\\|").replace('<', "&lt;")).join(" | ")
            );
        }
        text.push('\n');
        for figure in figures.iter().filter(|figure| figure.paper == paper.name()) {
            text += &format!(
                "![{}, {}](reproduction/{}.svg)\n\n",
                figure.title,
                figure.of,
                picture(figure)
            );
        }
    }
    text
}

/// The name of a figure's picture.
pub(crate) fn picture(figure: &Figure) -> String {
    format!("{}-{}", figure.paper, figure.name)
}
