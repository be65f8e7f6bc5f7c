//! Flags for columns that are published otherwise than they are, though not generalized.

use std::path::PathBuf;

use clap::Args;

use super::ColumnValue;

/// Rounding, top and bottom coding, hashes of identifiers.
#[derive(Debug, Args)]
pub(crate) struct CoarseningArgs {
    /// Publish the numbers of a kept or sensitive column as the nearest multiple of a number
    #[arg(long, value_name = "COLUMN=STEP")]
    pub(crate) round: Vec<ColumnValue>,
    /// Top coding of a kept or sensitive column: a greater number is published as this one
    #[arg(long, value_name = "COLUMN=NUMBER")]
    pub(crate) top: Vec<ColumnValue>,
    /// Bottom coding of a kept or sensitive column: a smaller number is published as this one
    #[arg(long, value_name = "COLUMN=NUMBER", allow_hyphen_values = true)]
    pub(crate) bottom: Vec<ColumnValue>,
    /// Publish a keyed hash of each identifier in place of dropping it; no two rows may have the same
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) hash: Vec<String>,
    /// File with the secret key of the hashes; default: a new random key, which nobody keeps
    #[arg(long, value_name = "FILE")]
    pub(crate) hash_key: Option<PathBuf>,
}
