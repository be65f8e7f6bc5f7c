//! Flags for reading a table that does not say itself how it is written.

use clap::Args;
use lookalike::forms::DateForm;

use super::values::{date_form, decimal, delimiter, thousands};

/// Flags for reading a table.
#[derive(Debug, Args)]
pub(crate) struct ReadingArgs {
    /// Delimiter of a CSV file; default: detected
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<char>,
    /// Encoding of a CSV file, such as windows-1252 or utf-16le; default: detected
    #[arg(long, value_name = "NAME")]
    pub(crate) encoding: Option<String>,
    /// Names of the columns of a CSV file or sheet that has no header line
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) names: Vec<String>,
    /// The first line is the header, although it looks like a row
    #[arg(long, conflicts_with = "names")]
    pub(crate) header: bool,
    /// Sheet of a workbook (.xlsx, .xls, .ods); default: the first one that has cells
    #[arg(long, value_name = "NAME")]
    pub(crate) sheet: Option<String>,
    /// Sign before decimals in CSV or a sheet, . or ,; default: detected for each column
    #[arg(long, value_name = "CHAR", value_parser = decimal)]
    pub(crate) decimal: Option<char>,
    /// Sign between groups of three digits in CSV or a sheet, such as . , or '; default: detected
    #[arg(long, value_name = "CHAR", value_parser = thousands)]
    pub(crate) thousands: Option<char>,
    /// Form of dates in CSV or a sheet, such as dd.mm.yyyy or mm/dd/yyyy; default: detected for each column
    #[arg(long, value_name = "FORM", value_parser = date_form)]
    pub(crate) date_format: Option<DateForm>,
}
