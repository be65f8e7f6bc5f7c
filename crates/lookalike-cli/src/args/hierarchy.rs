//! Flags of `hierarchy`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use lookalike::request::DateUnit;

use super::ReadingArgs;

/// Flags of `hierarchy`.
#[derive(Debug, Args)]
pub(crate) struct HierarchyArgs {
    #[command(subcommand)]
    pub(crate) command: HierarchyCommand,
}

/// The commands of `hierarchy`.
#[derive(Debug, Subcommand)]
pub(crate) enum HierarchyCommand {
    /// Check that a file is a tree and has every value of a column
    Check(HierarchyCheckArgs),
    /// Print the tree
    Show {
        /// Hierarchy file: each line is a value and its ancestors up to the root, separated by ;
        /// or a ready-made one: builtin:countries
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// List the ready-made hierarchies
    List,
    /// Suggest a hierarchy for a column of labels, to be read and changed
    Suggest(HierarchyOutputArgs),
    /// Make a hierarchy for a column of a table
    #[command(subcommand)]
    New(HierarchyNew),
}

/// Flags of `hierarchy check`.
#[derive(Debug, Args)]
pub(crate) struct HierarchyCheckArgs {
    /// Hierarchy file, or a ready-made one: builtin:countries
    pub(crate) file: PathBuf,
    /// Table whose values the hierarchy must have
    #[arg(long, value_name = "DATA", requires = "column")]
    pub(crate) data: Option<PathBuf>,
    /// Column of the table
    #[arg(long, value_name = "COLUMN", requires = "data")]
    pub(crate) column: Option<String>,
    /// List the values that are not in the hierarchy
    #[arg(long, requires = "data")]
    pub(crate) show_values: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// The kinds of new hierarchies.
#[derive(Debug, Subcommand)]
pub(crate) enum HierarchyNew {
    /// All values of a column, with an empty group each to fill in
    Groups {
        #[command(flatten)]
        of: HierarchyOutputArgs,
    },
    /// Intervals of numbers
    Intervals {
        /// Widths, smallest first, each a multiple of the one before
        #[arg(long, value_name = "5,10,..", value_delimiter = ',', required = true)]
        widths: Vec<f64>,
        /// Start of an interval
        #[arg(long, value_name = "NUMBER", default_value_t = 0.0, allow_negative_numbers = true)]
        origin: f64,
        /// All numbers below this one form one interval
        #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
        bottom: Option<f64>,
        /// All numbers from this one on form one interval
        #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
        top: Option<f64>,
        #[command(flatten)]
        of: HierarchyOutputArgs,
    },
    /// Leading characters: 53712, 5371*, 537**
    Prefix {
        /// Numbers of leading characters to keep, largest first
        #[arg(long, value_name = "4,3,..", value_delimiter = ',', required = true)]
        keep: Vec<usize>,
        #[command(flatten)]
        of: HierarchyOutputArgs,
    },
    /// Calendar units: month, quarter, half-year, year, five-years, decade; or week
    Date {
        /// Units, smallest first
        #[arg(long, value_name = "month,year,..", value_delimiter = ',', required = true, value_parser = units())]
        units: Vec<DateUnit>,
        #[command(flatten)]
        of: HierarchyOutputArgs,
    },
}

/// The column of a new hierarchy, and its file.
#[derive(Debug, Args)]
pub(crate) struct HierarchyOutputArgs {
    /// Table
    #[arg(long, value_name = "DATA")]
    pub(crate) data: PathBuf,
    /// Column of the table
    #[arg(long, value_name = "COLUMN")]
    pub(crate) column: String,
    /// Output file for the hierarchy; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) output: PathBuf,
    /// Replace the output file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

fn units() -> impl TypedValueParser<Value = DateUnit> {
    PossibleValuesParser::new([
        "day",
        "week",
        "month",
        "quarter",
        "half-year",
        "year",
        "five-years",
        "decade",
    ])
    .map(super::values::known)
}
