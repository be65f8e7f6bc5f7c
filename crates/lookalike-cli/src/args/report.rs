//! What can be typed after `report`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::{Released, RequestFlags, effort};
use lookalike::run::Effort;

const EDITIONS: &str = "\
The internal edition tells what was counted in the source: keep it as confidential as that.
The public edition may go with the release: it shows no value that the release does not show,
counts of the source only from k rows on and rounded, no losses and no distributions, which
tell of rows that were left out, no seed and no folder.

Exit codes: 0 when the release holds, 1 when it does not (the page is written and says so).";

/// Flags of `report`.
#[derive(Debug, Args)]
#[command(after_help = EDITIONS)]
pub(crate) struct Report {
    /// The table that the release was made from
    pub(crate) source: PathBuf,
    /// The release
    pub(crate) release: PathBuf,
    /// Where the page goes
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub(crate) output: PathBuf,
    /// Write the numbers of the page to this file too (docs/report.md has the keys)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Replace the files if they exist
    #[arg(long)]
    pub(crate) force: bool,
    /// For whom the page is
    #[arg(long, value_name = "NAME", value_parser = edition(), default_value = "internal")]
    pub(crate) edition: Edition,
    /// How many random counts to ask; 0 leaves them out
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) queries: u64,
    /// How long to look for what no release can lose less than: not at all, some seconds, or to the
    /// end
    #[arg(long, value_name = "EFFORT", value_parser = effort(), default_value = "quick")]
    pub(crate) bound: Effort,
    #[command(flatten)]
    pub(crate) released: Released,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
}

/// For whom a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edition {
    /// Whoever may see the source.
    Internal,
    /// Everybody.
    Public,
}

fn edition() -> impl TypedValueParser<Value = Edition> {
    PossibleValuesParser::new(["internal", "public"])
        .map(|text| if text == "public" { Edition::Public } else { Edition::Internal })
}
