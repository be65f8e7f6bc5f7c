//! Arrow IPC files.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, SchemaRef};

use super::{in_order, unwritable};
use crate::error::{Error, Result};
use crate::table::plain::rebuild;

pub(super) fn write(
    out: BufWriter<File>,
    place: &Path,
    schema: &SchemaRef,
    count: usize,
    batch: impl Fn(usize) -> Result<RecordBatch> + Sync,
) -> Result<BufWriter<File>> {
    let failed = |error| Error::io(place, fault(error));
    let mut writer = FileWriter::try_new(out, schema).map_err(failed)?;
    // The file has the buffers as they are, with all that lies beside the values.
    let rebuilt = |number| {
        let columns =
            batch(number)?.columns().iter().map(rebuild).collect::<std::result::Result<_, _>>();
        columns
            .and_then(|columns| RecordBatch::try_new(schema.clone(), columns))
            .map_err(|_| unwritable(number))
    };
    in_order(count, rebuilt, |batch| writer.write(&batch).map_err(failed))?;
    writer.finish().and_then(|()| writer.into_inner()).map_err(failed)
}

fn fault(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, fault) => fault,
        _ => io::Error::other("the Arrow writer failed"),
    }
}
