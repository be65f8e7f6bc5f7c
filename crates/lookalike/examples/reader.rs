//! Reader in: the table comes from any reader (here a pipe of `gzip`, an upload would do), or as
//! Arrow record batches, and the release stays in memory.
//!
//!     cargo run --example reader

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use lookalike::{Request, Result, anonymize, table};

fn main() -> Result<()> {
    let request = Request::parse(
        "k = 2\nseed = 7\nrest = 'keep'\naccept_unique = true\ncolumns.age.role = 'quasi'\n\
         columns.sex.role = 'quasi'",
    )?;

    // Bytes of CSV, Parquet or Arrow, packed or not: the first ones say which.
    let upload = Cursor::new("age,sex,illness\n34,f,flu\n36,f,gout\n51,m,flu\n58,m,cold\n");
    let source = table::open_reader(upload, Path::new("upload.csv"), None)?;
    let released = anonymize(source, &request)?;
    println!("from bytes: {}", released.report);

    // Typed columns of a frame, a query or another process.
    let ages: ArrayRef = Arc::new(Int64Array::from(vec![34, 36, 51, 58]));
    let sexes: ArrayRef = Arc::new(StringArray::from(vec!["f", "f", "m", "m"]));
    let stay: ArrayRef = Arc::new(Int64Array::from(vec![3, 1, 12, 5]));
    let batch = RecordBatch::try_from_iter([("age", ages), ("sex", sexes), ("stay", stay)])
        .expect("three columns of four rows");
    let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    let released = anonymize(table::from_batches(reader)?, &request)?;
    println!("from batches: {} in {} batch", released.report, released.batches.len());
    Ok(())
}
