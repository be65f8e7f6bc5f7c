//! Sink out: the release goes to a place of the caller, is read back from there and audited, and
//! is published only then. A folder stands here for a table of a database.
//!
//!     cargo run --example sink

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::cell::RefCell;
use std::fs;

use arrow_array::RecordBatch;
use lookalike::run::{Run, Sink};
use lookalike::{Error, Request, Result, table};

fn main() -> Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (staged, published) = (folder.path().join("staged"), folder.path().join("safe.csv"));
    let failed = |error| Error::io(&staged, error);

    let staging = RefCell::new(String::from("age,sex\n"));
    let write = |batch: &RecordBatch| {
        let cells =
            |at: usize| batch.column(at).as_any().downcast_ref::<arrow_array::StringArray>();
        let (ages, sexes) = (cells(0).expect("labels"), cells(1).expect("labels"));
        for row in 0..batch.num_rows() {
            *staging.borrow_mut() += &format!("{},{}\n", ages.value(row), sexes.value(row));
        }
        fs::write(&staged, staging.borrow().as_bytes()).map_err(failed)
    };
    let publish = || fs::rename(&staged, &published).map_err(failed);
    let sink = Sink::new(write, publish).reading_back(|| table::open(&staged, Some(',')));

    let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'\ncolumns.sex.role = 'quasi'")?;
    let patients = "age,sex\n34,f\n36,f\n51,m\n58,m\n".to_string();
    let source = table::open_text(patients, "patients".as_ref())?;
    println!("{}", Run::new(&request).to_sink(source, sink)?);
    print!("{}", fs::read_to_string(&published).expect("the audit has passed"));
    Ok(())
}
