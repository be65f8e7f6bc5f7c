//! What can be typed after `hierarchy`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use lookalike::request::DateUnit;

use super::Reading;

/// Flags of `hierarchy`.
#[derive(Debug, Args)]
pub(crate) struct Hierarchy {
    #[command(subcommand)]
    pub(crate) command: HierarchyCommand,
}

/// What to do with a hierarchy.
#[derive(Debug, Subcommand)]
pub(crate) enum HierarchyCommand {
    /// Is the file a tree, and does it have every value of a column?
    Check(HierarchyCheck),
    /// Show the tree
    Show {
        /// The hierarchy: a line a value, then its ancestors up to the root, with ; between
        file: PathBuf,
    },
    /// Make a hierarchy for a column of a table
    #[command(subcommand)]
    New(HierarchyNew),
}

/// Flags of `hierarchy check`.
#[derive(Debug, Args)]
pub(crate) struct HierarchyCheck {
    /// The hierarchy
    pub(crate) file: PathBuf,
    /// A table whose values it must have
    #[arg(long, value_name = "DATA", requires = "column")]
    pub(crate) data: Option<PathBuf>,
    /// The column of the table
    #[arg(long, value_name = "COLUMN", requires = "data")]
    pub(crate) column: Option<String>,
    /// List the values that the hierarchy lacks
    #[arg(long, requires = "data")]
    pub(crate) show_values: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// The kinds of hierarchies that can be made.
#[derive(Debug, Subcommand)]
pub(crate) enum HierarchyNew {
    /// Intervals of numbers
    Intervals {
        /// Widths, finest first, each a multiple of the one before
        #[arg(long, value_name = "5,10,..", value_delimiter = ',', required = true)]
        widths: Vec<f64>,
        /// Where an interval begins
        #[arg(long, value_name = "NUMBER", default_value_t = 0.0, allow_negative_numbers = true)]
        origin: f64,
        /// Everything below is one interval
        #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
        bottom: Option<f64>,
        /// Everything from here on is one interval
        #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
        top: Option<f64>,
        #[command(flatten)]
        of: ColumnOf,
    },
    /// Leading characters: 53712, 5371*, 537**
    Prefix {
        /// How many characters are kept, longest first
        #[arg(long, value_name = "4,3,..", value_delimiter = ',', required = true)]
        keep: Vec<usize>,
        #[command(flatten)]
        of: ColumnOf,
    },
    /// Calendar units: month, quarter, year, decade
    Date {
        /// The units, finest first
        #[arg(long, value_name = "month,year,..", value_delimiter = ',', required = true, value_parser = units())]
        units: Vec<DateUnit>,
        #[command(flatten)]
        of: ColumnOf,
    },
}

/// The column a hierarchy is made for.
#[derive(Debug, Args)]
pub(crate) struct ColumnOf {
    /// The table
    #[arg(long, value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Its column
    #[arg(long, value_name = "COLUMN")]
    pub(crate) column: String,
    /// Where the hierarchy goes; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the output if it exists
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

fn units() -> impl TypedValueParser<Value = DateUnit> {
    PossibleValuesParser::new(["day", "month", "quarter", "year", "decade"])
        .map(|text| crate::request::unit(&text).expect("one of the possible values"))
}
