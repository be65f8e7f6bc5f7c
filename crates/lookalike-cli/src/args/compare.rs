//! What can be typed after `compare`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use lookalike::Algorithm;

use super::{Columns, How, Reading, Rules};

const COMPARED: &str = "\
Each row is one search. NCP and GCP: its loss; bound: what no release with this k can go below;
gap: loss over bound; C_DM: the sum of the squared sizes of classes; error: the median relative
error of random counts; memory: the peak of the whole program during the search.

To compare rules, write each set of rules into a configuration file and name them all:
  lookalike compare patients.csv -c strict.toml -c loose.toml --k 5,10

compare writes no release. What each search found is judged in memory, but no file is written
and read back: anonymize does that. What is printed is counted in the table: keep it as
confidential as that. Exit codes: 0 when at least one search was made, 1 when no request can be met,
130 when it was interrupted (the first Ctrl-C ends the search and writes what there is).";

/// Flags of `compare`.
#[derive(Debug, Args)]
#[command(after_help = COMPARED)]
pub(crate) struct Compare {
    /// The table: CSV (also .gz, .zst), Parquet or Arrow; the configuration's when absent; - is
    /// standard input
    pub(crate) data: Option<PathBuf>,
    /// Read the request from a TOML file (see init); flags win over it. Give it several times to
    /// compare sets of rules: each row then names its file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Compare these; all is every one (ring only with --non-homogeneous). When absent: every one
    /// that is homogeneous and local, but for the -row variants; the algorithm of a configuration
    /// is not heeded
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = names())]
    pub(crate) algorithms: Vec<String>,
    /// Compare under each of these k, which stand in for the k of flags and files
    #[arg(long = "k", value_name = "K,K,..", value_delimiter = ',')]
    pub(crate) ks: Vec<u64>,
    /// How many random counts are asked of each release, the same of all; 0 leaves them out
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) queries: u64,
    /// Draw lots and queries from this seed; the configuration's, or 1, when absent
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Write the rows to this CSV file; - is standard output, in place of the table
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Draw loss by k, gap by k (where there are bounds) and time by loss as SVG files in this
    /// folder
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Print one JSON object in place of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) columns: Columns,
    #[command(flatten)]
    pub(crate) rules: Rules,
    #[command(flatten, next_help_heading = "SearchOptions")]
    pub(crate) how: How,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(["all"].into_iter().chain(Algorithm::ALL.map(Algorithm::name)))
}
