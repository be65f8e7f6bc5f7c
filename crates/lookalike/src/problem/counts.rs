//! The count column: for how many rows each row of a table stands.

use std::ops::Range;

use super::tuples::Tuples;
use crate::codes::Codes;
use crate::error::{Error, Result};
use crate::request::{Request, Roles};
use crate::table::{Coded, Table};

/// The counts of rows and of tuples.
#[derive(Clone, Debug)]
pub(super) struct TupleCounts {
    /// In the order of the rows of a problem: tuple by tuple.
    of_rows: Vec<u32>,
    /// For each tuple the sum over its rows.
    of_tuples: Vec<u32>,
    total: u64,
}

impl TupleCounts {
    /// The counts of a table; none when it has no count column.
    ///
    /// # Errors
    /// As [`parse`]; when the sum of all counts is not below 2^32.
    pub(super) fn new(
        table: &Table,
        roles: &Roles,
        tuples: &Tuples,
    ) -> Result<Option<TupleCounts>> {
        let Some(name) = &roles.count else { return Ok(None) };
        let coded = table.coded(name);
        let of_value = parse(name, coded)?;
        let of_row = |&row: &u32| of_value[coded.codes().get(row as usize) as usize];
        let of_rows: Vec<u32> = tuples.rows.iter().map(of_row).collect();
        let total: u64 = of_rows.iter().map(|&count| u64::from(count)).sum();
        if total > u64::from(u32::MAX) {
            let reason = format!(
                "the counts add up to {total} rows, and a table has fewer than 2^32; cut the table \
                 into parts"
            );
            return Err(Error::data("too-many-rows", reason).at_column(name));
        }
        let of_tuple = |ends: &[u32]| of_rows[ends[0] as usize..ends[1] as usize].iter().sum();
        let of_tuples = tuples.starts.windows(2).map(of_tuple).collect();
        Ok(Some(TupleCounts { of_rows, of_tuples, total }))
    }

    /// The sum of all counts.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    #[inline]
    pub(super) fn of_tuple(&self, tuple: u32) -> u32 {
        self.of_tuples[tuple as usize]
    }

    pub(super) fn of_rows(&self, rows: Range<usize>) -> &[u32] {
        &self.of_rows[rows]
    }

    pub(super) fn bytes(&self) -> usize {
        4 * (self.of_rows.len() + self.of_tuples.len())
    }
}

/// The counts of a table's rows, which stand for themselves where there is no count column.
#[derive(Debug)]
pub(crate) struct CountColumn<'t> {
    column: Option<(&'t Codes, Vec<u32>)>,
}

impl<'t> CountColumn<'t> {
    /// The count column of that name.
    ///
    /// # Errors
    /// As [`parse`]; when the table was read without it.
    pub(crate) fn new(table: &'t Table, name: Option<&String>) -> Result<CountColumn<'t>> {
        let Some(name) = name else { return Ok(CountColumn { column: None }) };
        let coded = table.column(name).and_then(|column| column.coded.as_ref());
        let coded = coded.ok_or_else(|| {
            let reason = format!("the table has no count column `{name}`, or it was not read");
            Error::data("no-count-column", reason).about_column(name)
        })?;
        Ok(CountColumn { column: Some((coded.codes(), parse(name, coded)?)) })
    }

    /// The number of rows that a row stands for.
    #[inline]
    pub(crate) fn of(&self, row: usize) -> u64 {
        match &self.column {
            None => 1,
            Some((codes, counts)) => u64::from(counts[codes.get(row) as usize]),
        }
    }

    pub(crate) fn is_counted(&self) -> bool {
        self.column.is_some()
    }

    /// The sum over this many rows, which are all rows of the table.
    pub(crate) fn total(&self, rows: usize) -> u64 {
        match &self.column {
            None => rows as u64,
            Some(_) => (0..rows).map(|row| self.of(row)).sum(),
        }
    }
}

/// The number of rows that a table stands for: the sum of its count column, or its own rows.
///
/// # Example
/// ```
/// use lookalike::{Request, problem, table, table::Treatment};
///
/// let request = Request::parse("k = 2\ncount = 'n'\ncolumns.age.role = 'quasi'")?;
/// let source = table::open_text("age,n\n30,3\n35,1\n".into(), "counts.csv".as_ref())?;
/// let table = source.read(&[Treatment::Code, Treatment::Code])?;
/// assert_eq!((table.rows(), problem::row_count(&table, &request)?), (2, 4));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When a count is no whole number from 1, or the table was read without its count column.
pub fn row_count(table: &Table, request: &Request) -> Result<u64> {
    Ok(CountColumn::new(table, request.count.as_ref())?.total(table.rows()))
}

/// The count of each value of a column's dictionary: digits alone, blanks around them allowed, at
/// least 1.
///
/// # Errors
/// [`Data`](crate::ErrorKind::Data) with the first data row whose count is none.
pub(crate) fn parse(name: &str, coded: &Coded) -> Result<Vec<u32>> {
    let count = |text: &Option<String>| {
        let digits = text.as_ref()?.trim();
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let count = if is_whole { digits.parse().ok()? } else { 0 };
        (count > 0).then_some(count)
    };
    let counts: Vec<Option<u32>> = coded.values().iter().map(count).collect();
    let faults = counts.iter().zip(coded.first_row()).filter(|(count, _)| count.is_none());
    if let Some(row) = faults.map(|(_, &row)| u64::from(row)).min() {
        let reason = "not a count; a count is a whole number from 1 to 4294967295, written in \
                      digits alone";
        return Err(Error::data("not-a-count", reason).at_row(name, row));
    }
    Ok(counts.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use crate::problem::Problem;
    use crate::testing;

    const TOML: &str = "k = 2\ncount = 'n'\ncolumns.age.role = 'quasi'";

    fn problem(rows: &str) -> crate::Result<Problem> {
        testing::problem(&format!("age,n\n{rows}"), TOML)
    }

    #[test]
    fn counts_of_equal_tuples_add_up() {
        let problem = problem("40,3\n20, 2 \n40,1\n30,007\n").unwrap();
        let counts: Vec<u32> = (0..3).map(|tuple| problem.count(tuple)).collect();
        assert_eq!((counts, problem.row_count()), (vec![2, 7, 4], 13));
        assert_eq!(problem.rows_of(2), [0, 2]);
        assert_eq!(problem.counts_of(2), Some(&[3, 1][..]));
        assert!(problem.is_counted());
    }

    #[test]
    fn a_table_without_a_count_column_has_no_counts() {
        let problem = testing::problem("age\n1\n1\n2\n", "k = 1\ncolumns.age.role = 'quasi'");
        let problem = problem.unwrap();
        assert_eq!((problem.count(0), problem.counts_of(0)), (2, None));
        assert!(!problem.is_counted());
    }

    #[test]
    fn a_cell_that_is_no_count_is_named_by_its_row_and_never_shown() {
        for cell in ["0", "-1", "3.0", "+3", "x7", "", "1 2", "1e3", "4294967296", "000"] {
            let error = problem(&format!("1,5\n2,5\n3,\"{cell}\"\n4,y\n")).unwrap_err();
            assert_eq!(
                error.to_string(),
                "column `n`, data row 3: not a count; a count is a whole number from 1 to \
                 4294967295, written in digits alone",
                "{cell}"
            );
        }
    }

    #[test]
    fn the_sum_of_the_counts_is_below_two_to_the_32() {
        assert_eq!(problem("1,4294967294\n2,1\n").unwrap().row_count(), 4_294_967_295);
        let error = problem("1,4294967295\n2,1\n").unwrap_err().to_string();
        assert!(error.contains("column `n`: the counts add up to 4294967296 rows"), "{error}");
    }

    #[test]
    fn the_count_column_has_no_other_role_and_rest_is_not_about_it() {
        let roles = |toml: &str| {
            let names = ["age", "n", "note"].map(String::from);
            crate::Request::parse(toml).unwrap().roles(&names)
        };
        for rest in ["keep", "drop"] {
            let roles = roles(&format!("{TOML}\nrest = '{rest}'")).unwrap();
            assert_eq!(roles.count.as_deref(), Some("n"));
            assert_eq!([&roles.keep[..], &roles.dropped[..]].concat(), ["note"]);
        }
        let message = |toml: &str| roles(toml).unwrap_err().to_string();
        let quasi = "k = 2\nrest = 'keep'\ncolumns.age.role = 'quasi'";
        let twice = message(&format!("count = 'age'\n{quasi}"));
        assert!(twice.starts_with("column `age` is the count column, so it can have"), "{twice}");
        let unknown = message(&format!("count = 'notes'\n{quasi}"));
        assert!(unknown.starts_with("there is no column `notes`"), "{unknown}");
    }

    #[test]
    fn rings_and_the_order_of_the_source_are_refused() {
        let message = |key: &str| {
            let toml = format!("k = 2\ncount = 'n'\n{key}\ncolumns.age.role = 'quasi'");
            testing::problem("age,n\n1,2\n", &toml).unwrap_err().to_string()
        };
        assert!(message("non_homogeneous = true").starts_with("rings need one row"));
        assert!(message("output.order = 'input'").starts_with("rows that show the same"));
    }
}
