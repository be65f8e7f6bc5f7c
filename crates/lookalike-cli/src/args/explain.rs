//! Flags of `explain`.

use std::path::PathBuf;

use clap::Args;

use super::RequestFlags;

/// Flags of `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Table; default: the table of the configuration; - is standard input
    pub(crate) data: Option<PathBuf>,
    /// Print the results as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Time limit of all searches together (500ms, 60s, 5m, 1h). Default: 10s
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
}
