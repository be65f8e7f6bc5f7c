//! Watcher: events of a run, and a search that is ended before its time with its best release so
//! far.
//!
//!     cargo run --example watcher

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::time::Duration;

use lookalike::run::{Cancel, Event, Run};
use lookalike::synthetic::{self, Synthetic};
use lookalike::{Request, Result, table};

fn main() -> Result<()> {
    let request = Request::parse(
        "k = 5\nlimits.time = '60s'\nrest = 'drop'\ncolumns.age.role = 'quasi'\n\
         columns.zip.role = 'quasi'\ncolumns.sex.role = 'quasi'\ncolumns.marital.role = 'quasi'",
    )?;
    let (schema, rows) = (synthetic::schema(Synthetic::Hospital), 5_000);
    let batch = synthetic::batch(Synthetic::Hospital, 1, 0, rows);
    let reader = arrow_array::RecordBatchIterator::new([Ok(batch)], schema);

    let cancel = Cancel::default();
    let watch = |event: Event| match event {
        Event::Stage(stage) => println!("{stage}"),
        Event::Warning(warning) => println!("warning: {warning}"),
        Event::Progress(now) => {
            let share = now.share.unwrap_or(0.0) * 100.0;
            println!("  {share:.0} % of the time, loss {:.0}, gap {:?}", now.loss, now.gap);
            if share > Duration::from_secs(2).as_secs_f64() / 60.0 * 100.0 {
                cancel.end_search();
            }
        }
        _ => {}
    };
    let run = Run::new(&request).cancel(&cancel).watch(&watch);
    println!("{}", run.in_memory(table::from_batches(reader)?)?.report);
    Ok(())
}
