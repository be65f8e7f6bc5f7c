//! Parquet files.

use std::fs::File;
use std::path::Path;
use std::sync::mpsc::SyncSender;

use arrow_schema::Schema;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::reader::ChunkReader;

use super::Batch;
use super::bytes::{ByteSource, Whole, damaged, guarded, whole};
use crate::error::{Error, Result};

/// A batch has about so many bytes at most.
const BATCH_BYTES: i64 = 1 << 28;

/// A Parquet file of which only the schema is known.
pub(crate) enum Parquet {
    File(ParquetRecordBatchReaderBuilder<File>),
    Bytes(ParquetRecordBatchReaderBuilder<Bytes>),
}

impl Parquet {
    pub(super) fn open(source: ByteSource, magic: &[u8], path: &Path) -> Result<Parquet> {
        let file = whole(source, magic, path)?;
        guarded(path, "Parquet", || match file {
            Whole::File(file) => ParquetRecordBatchReaderBuilder::try_new(file).map(Parquet::File),
            Whole::Bytes(bytes) => {
                ParquetRecordBatchReaderBuilder::try_new(bytes).map(Parquet::Bytes)
            }
        })
    }

    pub(super) fn schema(&self) -> &Schema {
        match self {
            Parquet::File(builder) => builder.schema(),
            Parquet::Bytes(builder) => builder.schema(),
        }
    }

    /// Sends the rows on in batches, with only the columns at these places; stops when nobody
    /// listens any more.
    pub(super) fn send(
        self,
        columns: &[usize],
        batch_rows: usize,
        to: &SyncSender<Batch>,
    ) -> Result<()> {
        match self {
            Parquet::File(builder) => send(builder, columns, batch_rows, to),
            Parquet::Bytes(builder) => send(builder, columns, batch_rows, to),
        }
    }
}

fn send<T: ChunkReader + 'static>(
    builder: ParquetRecordBatchReaderBuilder<T>,
    columns: &[usize],
    batch_rows: usize,
    to: &SyncSender<Batch>,
) -> Result<()> {
    for column in builder.metadata().row_groups().iter().flat_map(|group| group.columns()) {
        check_codec(column.compression())?;
    }
    // Long texts make short batches, as far as the file says how long they are.
    let groups = builder.metadata().row_groups();
    let widest = groups
        .iter()
        .map(|group| group.total_byte_size() / group.num_rows().max(1))
        .max()
        .unwrap_or(0);
    let batch_rows = usize::try_from(BATCH_BYTES / widest.max(1)).unwrap_or(0).clamp(1, batch_rows);
    let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
    let reader = builder
        .with_batch_size(batch_rows)
        .with_projection(mask)
        .build()
        .map_err(|_| damaged(0))?;
    let mut rows = 0;
    for batch in reader {
        let batch = batch.map_err(|_| damaged(rows))?;
        rows += batch.num_rows();
        if to.send(Batch::Arrays(batch)).is_err() {
            break;
        }
    }
    Ok(())
}

fn check_codec(codec: Compression) -> Result<()> {
    let name = match codec {
        Compression::LZO => "LZO",
        Compression::BROTLI(_) => "Brotli",
        Compression::UNCOMPRESSED => return Ok(()),
        _ if cfg!(feature = "compression") => return Ok(()),
        _ => {
            return Err(Error::data(
                "input-not-in-build",
                "the Parquet file is compressed, which this build cannot read: build it with the feature `compression`",
            ));
        }
    };
    Err(Error::data(
        "unsupported-compression",
        format!(
            "the Parquet file is compressed with {name}, which is not supported: write it with zstd"
        ),
    ))
}
