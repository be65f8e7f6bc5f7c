//! Flags for reading a table that does not say itself how it is written.

use clap::Args;
use lookalike::forms::DateForm;
use lookalike::request::Input;
use lookalike::table::ReadOptions;

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

impl ReadingArgs {
    /// Overrides the configuration by the flags.
    pub(crate) fn apply_to(&self, input: &mut Input) {
        input.delimiter = self.delimiter.or(input.delimiter);
        if self.encoding.is_some() {
            input.encoding.clone_from(&self.encoding);
        }
        if self.sheet.is_some() {
            input.sheet.clone_from(&self.sheet);
        }
        input.decimal = self.decimal.or(input.decimal);
        input.thousands = self.thousands.or(input.thousands);
        if self.date_format.is_some() {
            input.date_format.clone_from(&self.date_format);
        }
        if !self.names.is_empty() {
            input.names.clone_from(&self.names);
            input.header = false;
        }
        if self.header {
            input.header = true;
            input.names.clear();
        }
    }

    /// The flags alone.
    pub(crate) fn options(&self) -> ReadOptions {
        let mut input = Input::default();
        self.apply_to(&mut input);
        ReadOptions::from(&input)
    }
}
