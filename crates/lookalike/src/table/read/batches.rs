//! Record batches of a caller: a frame, a query of a database, another process.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::mpsc::SyncSender;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, Fields};

use super::{Batch, Decoder, Source};
use crate::error::{Error, Result};

/// The batches to come.
pub(crate) type Batches = Box<dyn RecordBatchReader + Send>;

/// A table of record batches: any Arrow stream. Its rows are read when the table is; it can be
/// read once.
///
/// # Example
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{Int64Array, RecordBatch, RecordBatchIterator};
/// use lookalike::table::{Treatment, from_batches};
///
/// let ages = Arc::new(Int64Array::from(vec![34, 36, 36]));
/// let batch = RecordBatch::try_from_iter([("age", ages as _)]).unwrap();
/// let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
/// let table = from_batches(reader)?.read(&[Treatment::CodeAndPassThrough])?;
/// assert_eq!((table.rows(), table.coded("age").values().len()), (3, 2));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When the columns have no distinct names.
pub fn from_batches(reader: impl RecordBatchReader + Send + 'static) -> Result<Source> {
    Source::new(Decoder::Batches(Box::new(reader)), Vec::new())
}

/// The batches of a stream; an error for one that has not the columns of the stream.
pub(super) fn of_schema(
    reader: Batches,
) -> impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>> {
    let schema = reader.schema();
    reader.map(move |batch| {
        let batch = batch?;
        let types = |fields: &Fields| -> Vec<DataType> {
            fields.iter().map(|field| field.data_type().clone()).collect()
        };
        if types(batch.schema().fields()) == types(schema.fields()) {
            return Ok(batch);
        }
        Err(ArrowError::SchemaError("a batch has not the columns of its stream".into()))
    })
}

/// Sends the rows on in batches, with only the columns at these places; stops when nobody listens
/// any more.
pub(super) fn send(
    reader: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
    columns: &[usize],
    batch_rows: usize,
    to: &SyncSender<Batch>,
    failed: impl Fn(usize, ArrowError) -> Error,
) -> Result<()> {
    let mut rows = 0;
    for batch in reader {
        let batch =
            batch.and_then(|batch| batch.project(columns)).map_err(|error| failed(rows, error))?;
        // A writer may have put the whole table into one batch.
        for start in (0..batch.num_rows()).step_by(batch_rows) {
            let part = batch.slice(start, batch_rows.min(batch.num_rows() - start));
            if to.send(Batch::Arrays(part)).is_err() {
                return Ok(());
            }
        }
        rows += batch.num_rows();
    }
    Ok(())
}

/// The failure of the caller's own stream. Its words may quote a cell: they are the source of the
/// error, not part of it.
pub(super) fn stream_failed(rows: usize, source: ArrowError) -> Error {
    Error::io(Path::new("record batches"), io::Error::other(StreamFailure { rows, source }))
}

#[derive(Debug)]
struct StreamFailure {
    rows: usize,
    source: ArrowError,
}

impl fmt::Display for StreamFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the stream failed after {} rows", self.rows)
    }
}

impl std::error::Error for StreamFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
