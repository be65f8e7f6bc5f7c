//! Arrow IPC files and streams.

use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::Path;
use std::sync::mpsc::SyncSender;

use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::SchemaRef;
use bytes::Bytes;

use super::Batch;
use super::batches::send;
use super::bytes::{ByteSource, Peeked, Whole, damaged, guarded, whole};
use crate::error::Result;

/// An Arrow file or stream of which only the schema is known.
pub(crate) enum ArrowIpc {
    File(FileReader<File>),
    Bytes(FileReader<Cursor<Bytes>>),
    Stream(StreamReader<BufReader<Peeked>>),
}

impl ArrowIpc {
    pub(super) fn open_file(source: ByteSource, magic: &[u8], path: &Path) -> Result<ArrowIpc> {
        let file = whole(source, magic, path)?;
        guarded(path, "Arrow", || match file {
            Whole::File(file) => FileReader::try_new(file, None).map(ArrowIpc::File),
            Whole::Bytes(bytes) => {
                FileReader::try_new(Cursor::new(bytes), None).map(ArrowIpc::Bytes)
            }
        })
    }

    pub(super) fn open_stream(source: ByteSource, magic: Vec<u8>, path: &Path) -> Result<ArrowIpc> {
        let stream = BufReader::new(Cursor::new(magic).chain(source));
        guarded(path, "Arrow", || StreamReader::try_new(stream, None).map(ArrowIpc::Stream))
    }

    pub(super) fn schema(&self) -> SchemaRef {
        match self {
            ArrowIpc::File(reader) => reader.schema(),
            ArrowIpc::Bytes(reader) => reader.schema(),
            ArrowIpc::Stream(reader) => reader.schema(),
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
            ArrowIpc::File(reader) => {
                send(reader, columns, batch_rows, to, |rows, _| damaged(rows))
            }
            ArrowIpc::Bytes(reader) => {
                send(reader, columns, batch_rows, to, |rows, _| damaged(rows))
            }
            ArrowIpc::Stream(reader) => {
                send(reader, columns, batch_rows, to, |rows, _| damaged(rows))
            }
        }
    }
}
