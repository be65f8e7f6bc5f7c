//! What can be typed after `reproduce`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

const AGAIN: &str = "\
Papers:
  xu2006    Xu et al., Utility-Based Anonymization Using Local Recoding, KDD 2006
  li2008    Li and Li, Towards Optimal k-Anonymization, DKE 2008
  he2012    He et al., Clustering-Based k-Anonymity, PAKDD 2012
  wong2006  Wong et al., (alpha,k)-Anonymity, KDD 2006

DIR gets one CSV file a figure (DIR/xu2006/...), the pictures (DIR/reproduction/), a page that
shows them (DIR/reproduction.md) and the claims (DIR/claims.csv, DIR/claims.json), which are also
printed. A claim that does not hold is shown as such; seconds depend on the machine, so only
orders and ratios of times are judged.

Every run that ended is kept in DIR/runs: the same command goes on where it was stopped, and one
that ended before only needs --force. Delete DIR/runs to measure anew.

Adult is not part of this program: fetch it from the UCI repository (doi 10.24432/C5XW20) and
name its folder with --data. Without it, what needs no real table is run.

Exit codes: 0 also when claims do not hold, 130 when it was interrupted.";

/// Flags of `reproduce`.
#[derive(Debug, Args)]
#[command(after_help = AGAIN)]
pub(crate) struct Reproduce {
    /// Whose experiments
    #[arg(value_parser = PossibleValuesParser::new(["xu2006", "li2008", "he2012", "wong2006", "all"]))]
    pub(crate) paper: String,
    /// The folder with adult.data and adult.test as UCI gives them out, or adult_30162.csv and
    /// adult_45222.csv, and acs2018_sal_occ.csv if there is one; each may end in .zst or .gz
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Fewer k, smaller tables, fewer queries and less time for exact searches: minutes instead of
    /// an hour
    #[arg(long)]
    pub(crate) quick: bool,
    /// The folder for everything that is written
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Replace figures, page and claims if they exist; runs are kept
    #[arg(long)]
    pub(crate) force: bool,
}
