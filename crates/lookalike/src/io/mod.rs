//! Files and standard streams to [`Table`](crate::table::Table) and back: CSV (plain, gzip, zstd), Parquet and Arrow IPC.
//!
//! Reading goes in two steps, because somebody must see the column names before deciding what becomes of each column:
//! [`open`] looks at the first bytes, [`Source::read`] reads the rows. Writing goes in two steps too: [`write()`] fills the file of a
//! [`Pending`] release, and only [`Pending::publish`] puts it where it was asked for.

mod count;
mod delimited;
mod foreign;
mod input;
mod intern;
mod pending;
mod plain;
mod read;
mod source;
mod text;
mod write;

pub use pending::{Access, Pending, Stream, Written, give_up, real_place, to_stream, undisturbed};
pub use read::in_memory;
pub use source::{Source, open, open_text, text};
pub use write::{Compression, FileType, Format, check_columns, check_types, file_type, write};
