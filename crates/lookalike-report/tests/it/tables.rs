//! Small tables as text, opened as CSV or as Arrow batches.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use lookalike::table::{self, Source};
use lookalike::{Request, l_diversity};

/// Three women and three men.
pub(crate) const SOURCE: &str =
    "age,sex,diagnosis\n34,f,flu\n36,f,gout\n39,f,cold\n51,m,flu\n51,m,gout\n58,m,cold\n";
/// A release of it.
pub(crate) const RELEASE: &str = "age,sex,diagnosis\n[34-39],f,cold\n[34-39],f,flu\n[34-39],f,gout\n\
                                  [51-58],m,cold\n[51-58],m,flu\n[51-58],m,gout\n";

pub(crate) fn request() -> Request {
    let request = Request::new(3).quasi_identifiers(["age", "sex"]);
    request.sensitive("diagnosis", [l_diversity(2)])
}

/// The table as CSV.
pub(crate) fn text(table: &str) -> Source {
    table::open_text(table.to_string(), Path::new("table")).unwrap()
}

/// The table as Arrow batches of two rows; columns of whole numbers are integers.
pub(crate) fn in_memory(table: &str) -> Source {
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    let is_whole = |at: usize| column(at, &rows).iter().all(|cell| cell.parse::<i64>().is_ok());
    let array = |at: usize, part: &[Vec<&str>]| -> ArrayRef {
        let cells = column(at, part);
        if is_whole(at) {
            Arc::new(cells.iter().map(|cell| cell.parse::<i64>().ok()).collect::<Int64Array>())
        } else {
            Arc::new(StringArray::from(cells))
        }
    };
    let batch = |part: &[Vec<&str>]| {
        let columns = names.iter().enumerate().map(|(at, name)| (*name, array(at, part)));
        RecordBatch::try_from_iter(columns).unwrap()
    };
    let schema = batch(&rows).schema();
    let batches: Vec<RecordBatch> = rows.chunks(2).map(batch).collect();
    table::from_batches(RecordBatchIterator::new(batches.into_iter().map(Ok), schema)).unwrap()
}

fn column<'a>(at: usize, rows: &[Vec<&'a str>]) -> Vec<&'a str> {
    rows.iter().map(|row| row[at]).collect()
}
