//! Parquet files.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::in_order;
use crate::error::{Error, Result};

pub(super) fn write(
    out: BufWriter<File>,
    place: &Path,
    schema: &SchemaRef,
    count: usize,
    batch: impl Fn(usize) -> Result<RecordBatch> + Sync,
) -> Result<BufWriter<File>> {
    let properties = WriterProperties::builder();
    // About as fast to write as snappy and a third smaller; every reader of the last years knows
    // it.
    #[cfg(feature = "compression")]
    let properties = properties
        .set_compression(parquet::basic::Compression::ZSTD(parquet::basic::ZstdLevel::default()));
    let failed = |error| Error::io(place, fault(error));
    let mut writer =
        ArrowWriter::try_new(out, schema.clone(), Some(properties.build())).map_err(failed)?;
    in_order(count, batch, |batch| writer.write(&batch).map_err(failed))?;
    writer.into_inner().map_err(failed)
}

fn fault(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(fault) => *fault,
            Err(_) => io::Error::other("the Parquet writer failed"),
        },
        _ => io::Error::other("the Parquet writer failed"),
    }
}
