//! Flags of `report`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::{ReleasedArgs, RequestFlags, RiskArgs, effort};
use lookalike::run::Effort;
use lookalike_report::report::{Edition, RecordDate};

const EDITIONS: &str = "\
Without SOURCE and RELEASE both come from the configuration ([input] and [output] path).

The internal edition has counts of the source: keep it as confidential as the source.
The public edition can be published with the release. It has no value that is not in the
release, and no seed or folder. Counts of the source are rounded, and counts below k are
hidden. It has no losses and no distributions, which would disclose suppressed rows.

Exit codes: 0 when the release satisfies the rules, 1 when it does not (the page says so).";

/// Flags of `report`.
#[derive(Debug, Args)]
#[command(after_help = EDITIONS)]
pub(crate) struct ReportArgs {
    /// Source table of the release; default: the table of the configuration
    pub(crate) source: Option<PathBuf>,
    /// Release; default: the output of the configuration
    pub(crate) release: Option<PathBuf>,
    /// Output file for the page
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub(crate) output: PathBuf,
    /// Output file for the numbers as JSON (keys: docs/report.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Replace output files that exist
    #[arg(long)]
    pub(crate) force: bool,
    /// Proof file from `anonymize --proof`, of a release whose rules count persons; default: that of
    /// the configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) proof: Option<PathBuf>,
    /// Readers of the page
    #[arg(long, value_name = "NAME", value_parser = edition(), default_value = "internal")]
    pub(crate) edition: Edition,
    /// Number of random counts with one, with two and with all conditions; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) queries: u64,
    /// Also explain what costs the detail and what would help, as `explain` does; internal edition
    #[arg(long)]
    pub(crate) explain: bool,
    /// Effort for the lower bound on the loss: none, quick, full, or tight (sharper, up to a minute)
    #[arg(long, value_name = "EFFORT", value_parser = effort(), default_value = "quick")]
    pub(crate) bound: Effort,
    /// Day of the record, as in 2026-11-18; default: today in UTC, or that of SOURCE_DATE_EPOCH
    #[arg(long, value_name = "DATE")]
    pub(crate) date: Option<RecordDate>,
    #[command(flatten)]
    pub(crate) released: ReleasedArgs,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
    #[command(flatten)]
    pub(crate) risk: RiskArgs,
}

fn edition() -> impl TypedValueParser<Value = Edition> {
    PossibleValuesParser::new(["internal", "public"])
        .map(|text| if text == "public" { Edition::Public } else { Edition::Internal })
}
