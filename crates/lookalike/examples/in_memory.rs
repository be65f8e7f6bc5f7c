//! In memory: an Arrow file is read into memory, then released in memory once for every line of
//! standard input. Each time it prints the seconds of the run. `bench/python` compares the Python
//! package with it.
//!
//!     echo | cargo run --release --example in_memory -- table.arrow request.json

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::fs::{self, File};
use std::io::{self, BufRead};
use std::time::Instant;

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_ipc::reader::FileReader;
use lookalike::run::Run;
use lookalike::{Request, table};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path, request] = arguments.as_slice() else {
        return Err("usage: in_memory TABLE.arrow REQUEST.json".into());
    };
    let request = Request::from_json(&fs::read_to_string(request)?)?;
    let reader = FileReader::try_new(File::open(path)?, None)?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<RecordBatch>, _>>()?;
    for line in io::stdin().lock().lines() {
        line?;
        let begun = Instant::now();
        // Sharing the buffers copies nothing.
        let rows = RecordBatchIterator::new(batches.clone().into_iter().map(Ok), schema.clone());
        let released = Run::new(&request).categories().in_memory(table::from_batches(rows)?)?;
        println!("{} {}", begun.elapsed().as_secs_f64(), released.report.released());
    }
    Ok(())
}
