//! Flags of `query`.

use std::path::PathBuf;

use clap::Args;

use super::{ReleasedArgs, RequestFlags};

const CONFIDENTIAL: &str = "\
The printed numbers are counted in the source, not in the release: keep them as confidential
as the source, above all the list of --each.";

/// Flags of `query`.
#[derive(Debug, Args)]
#[command(after_help = CONFIDENTIAL)]
pub(crate) struct QueryArgs {
    /// Source table of the release
    pub(crate) source: PathBuf,
    /// Release
    pub(crate) release: PathBuf,
    /// TOML file with queries, instead of random ones (format: docs/queries.md)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["random", "seed", "on", "sum"])]
    pub(crate) queries: Option<PathBuf>,
    /// Number of random counts, and of random sums
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) random: u64,
    /// Random seed of the queries
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Columns in the conditions of random queries; default: all quasi-identifiers
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) on: Vec<String>,
    /// Column of the random sums; default: the first numeric quasi-identifier
    #[arg(long, value_name = "COLUMN")]
    pub(crate) sum: Option<String>,
    /// List every query with its true answer: confidential
    #[arg(long)]
    pub(crate) each: bool,
    /// Print the results as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) released: ReleasedArgs,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
}
