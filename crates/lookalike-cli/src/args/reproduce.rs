//! Flags of `reproduce`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

const AGAIN: &str = "\
Papers:
  xu2006    Xu et al., Utility-Based Anonymization Using Local Recoding, KDD 2006
  li2008    Li and Li, Towards Optimal k-Anonymization, DKE 2008
  he2012    He et al., Clustering-Based k-Anonymity, PAKDD 2012
  wong2006  Wong et al., (alpha,k)-Anonymity, KDD 2006

Output in DIR: a CSV file for each figure (DIR/xu2006/...), the plots (DIR/reproduction/), a page
with the plots (DIR/reproduction.md) and the claims (DIR/claims.csv, DIR/claims.json), which are
also printed. Seconds depend on the machine: only orders and ratios of times are compared.

Finished runs are stored in DIR/runs. After an interruption, the same command continues; after
the end, it needs --force and reads the stored runs. Delete DIR/runs to measure again.

Adult is not part of this program: download it from the UCI repository (doi 10.24432/C5XW20) and
name its folder with --data. Without it, only experiments on synthetic tables are run.

Exit codes: 0 also when claims do not hold, 130 when it was interrupted.";

/// Flags of `reproduce`.
#[derive(Debug, Args)]
#[command(after_help = AGAIN)]
pub(crate) struct ReproduceArgs {
    /// Paper
    #[arg(value_parser = PossibleValuesParser::new(["xu2006", "li2008", "he2012", "wong2006", "all"]))]
    pub(crate) paper: String,
    /// Folder with adult.data and adult.test from UCI (or adult_30162.csv and adult_45222.csv), and
    /// acs2018_sal_occ.csv if you have it; each can end in .zst or .gz
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Smaller experiments: fewer k, smaller tables, fewer queries, less time for exact searches;
    /// minutes instead of an hour
    #[arg(long)]
    pub(crate) quick: bool,
    /// Output folder
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Replace figures, page and claims that exist; stored runs are kept
    #[arg(long)]
    pub(crate) force: bool,
}
