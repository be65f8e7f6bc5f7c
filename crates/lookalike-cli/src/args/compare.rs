//! Flags of `compare`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use lookalike::Algorithm;

use super::{ColumnArgs, ReadingArgs, RuleArgs, SearchArgs};

const COMPARED: &str = "\
Each row is one search. NCP, GCP: loss. bound: lower bound on the NCP of any release with this k.
gap: loss / bound. C_DM: discernibility, the sum of squared class sizes. error: median relative
error of random counts. memory: peak memory of the program during the search.

With --purpose every search is repeated on four fifths of the rows, five times: accuracy and AUC are
those of a model that was trained on such a release and predicts the purpose in the other rows. The
weights of a configuration that gives all of them stay as they are.

To compare rules, write each set of rules into a configuration file and name them all:
  lookalike compare patients.csv -c strict.toml -c loose.toml --k 5,10

compare writes no release. The result of each search is audited in memory; anonymize also writes
the file, reads it back and verifies it. The numbers are counted in the table: keep them as
confidential as the table. Exit codes: 0 when at least one search was made, 1 when no request can
be met, 130 when it was interrupted (the first Ctrl-C ends the search and prints the results so
far).";

/// Flags of `compare`.
#[derive(Debug, Args)]
#[command(after_help = COMPARED)]
pub(crate) struct CompareArgs {
    /// Table: CSV (also .gz, .zst, .zip), a workbook, Parquet or Arrow; default: the table of the
    /// configuration; - is standard input
    pub(crate) data: Option<PathBuf>,
    /// Configuration file in TOML (see init); flags override it. Several files compare sets of
    /// rules: each row then names its file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Algorithms to compare; all means every one (ring only with --non-homogeneous). Default:
    /// every homogeneous local algorithm without the -row variants; the algorithm of a
    /// configuration is ignored
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = names())]
    pub(crate) algorithms: Vec<String>,
    /// Values of k to compare, instead of the k of the configuration
    #[arg(long = "k", value_name = "K,K,..", value_delimiter = ',')]
    pub(crate) ks: Vec<u64>,
    /// Number of random counts for each release, the same for all; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) queries: u64,
    /// Random seed of searches and queries; default: the seed of the configuration, or 1
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Output file for the results as CSV; - is standard output, instead of the table
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Folder for plots (SVG): loss by k, gap by k (if there are bounds), time by loss
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Print the results as one JSON object instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Replace output files that exist
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    #[command(flatten, next_help_heading = "Search")]
    pub(crate) how: SearchArgs,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(["all"].into_iter().chain(Algorithm::ALL.map(Algorithm::name)))
}
