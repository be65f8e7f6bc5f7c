//! Bytes from a file or standard input, unpacked if they are compressed.

use std::fs::File;
use std::io::{self, Chain, Cursor, ErrorKind, Read, Stdin};
use std::path::Path;

use crate::error::{Error, Result};

/// Where bytes come from.
pub(crate) enum ByteSource {
    File(File),
    Stdin(Stdin),
    /// The reader of a caller.
    Reader(Box<dyn Read + Send>),
    /// The bytes that were looked at before are all there is.
    Nothing,
}

impl ByteSource {
    pub(crate) fn open(place: &Path) -> Result<ByteSource> {
        if place == Path::new("-") {
            return Ok(ByteSource::Stdin(io::stdin()));
        }
        let file = File::open(place).map_err(|source| Error::io(place, source))?;
        let about = file.metadata().map_err(|source| Error::io(place, source))?;
        if about.is_dir() {
            return Err(Error::io(place, ErrorKind::IsADirectory.into()));
        }
        Ok(ByteSource::File(file))
    }
}

impl Read for ByteSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            ByteSource::File(file) => file.read(buffer),
            ByteSource::Stdin(stdin) => stdin.read(buffer),
            ByteSource::Reader(reader) => reader.read(buffer),
            ByteSource::Nothing => Ok(0),
        }
    }
}

/// Bytes of which the first ones have already been looked at.
pub(crate) type Peeked = Chain<Cursor<Vec<u8>>, ByteSource>;

/// Bytes behind their decompressor.
#[allow(clippy::large_enum_variant, reason = "there is one per program")]
pub(crate) enum Unpacked {
    Plain(Peeked),
    #[cfg(feature = "compression")]
    Gzip(flate2::read::MultiGzDecoder<Peeked>),
    #[cfg(feature = "compression")]
    Zstd(zstd::Decoder<'static, io::BufReader<Peeked>>),
}

impl Unpacked {
    /// Recognises compression by its first bytes.
    pub(crate) fn new(magic: &[u8], source: ByteSource, place: &Path) -> Result<Unpacked> {
        let bytes = Cursor::new(magic.to_vec()).chain(source);
        match magic {
            #[cfg(feature = "compression")]
            [0x1f, 0x8b, ..] => Ok(Unpacked::Gzip(flate2::read::MultiGzDecoder::new(bytes))),
            // The second form is a skippable frame, with which parallel compressors begin.
            #[cfg(feature = "compression")]
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                let decoder = zstd::Decoder::new(bytes).map_err(|source| reading(place, source))?;
                Ok(Unpacked::Zstd(decoder))
            }
            #[cfg(not(feature = "compression"))]
            [0x1f, 0x8b, ..]
            | [0x28, 0xb5, 0x2f, 0xfd, ..]
            | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Err(left_out(place, "a compressed", "compression"))
            }
            _ => Ok(Unpacked::Plain(bytes)),
        }
    }
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Unpacked::Plain(bytes) => bytes.read(buffer),
            #[cfg(feature = "compression")]
            Unpacked::Gzip(decoder) => decoder.read(buffer),
            #[cfg(feature = "compression")]
            Unpacked::Zstd(decoder) => decoder.read(buffer),
        }
    }
}

/// A file of a kind that this build of the library does not read.
#[cfg(not(all(feature = "parquet", feature = "arrow-ipc", feature = "compression")))]
pub(crate) fn left_out(place: &Path, what: &str, feature: &str) -> Error {
    let why = format!(
        "{} is {what} file, which this build cannot read: build it with the feature `{feature}`",
        place.display()
    );
    Error::data("input-not-in-build", why).about_file(place)
}

/// The first `limit` bytes, fewer only if there are no more: a pipe may deliver them in drops.
pub(crate) fn head(from: &mut impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A refusal of the system is an I/O error; a refusal of a decompressor means a damaged file.
pub(crate) fn reading(place: &Path, source: io::Error) -> Error {
    if source.raw_os_error().is_some() {
        return Error::io(place, source);
    }
    Error::data(
        "damaged-file",
        format!(
            "{} is damaged or cut short ({source}): fetch or compress it again",
            place.display()
        ),
    )
    .about_file(place)
}

/// The decoders' own words are not passed on: some of them quote the value that they stumbled over.
pub(crate) fn damaged(rows: usize) -> Error {
    Error::data(
        "damaged-file",
        format!(
            "the file is damaged: what follows its first {rows} rows cannot be decoded; write or \
             fetch it again"
        ),
    )
}

#[cfg(any(feature = "parquet", feature = "arrow-ipc", feature = "workbooks"))]
pub(crate) use binary::guarded;
#[cfg(any(feature = "parquet", feature = "arrow-ipc"))]
pub(crate) use binary::{Whole, whole};

/// Files with their index at the end.
#[cfg(any(feature = "parquet", feature = "arrow-ipc", feature = "workbooks"))]
mod binary {
    use std::fmt;
    use std::io::Seek;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use bytes::Bytes;

    use super::{ByteSource, Error, File, Path, Read, Result};

    pub(crate) enum Whole {
        File(File),
        Bytes(Bytes),
    }

    /// All bytes, as far as they are needed: a file has them at hand, a pipe must be read to its
    /// end.
    pub(crate) fn whole(source: ByteSource, magic: &[u8], path: &Path) -> Result<Whole> {
        let failed = |source| Error::io(path, source);
        match source {
            ByteSource::File(mut file) if file.metadata().map_err(failed)?.is_file() => {
                file.rewind().map_err(failed)?;
                Ok(Whole::File(file))
            }
            mut pipe => {
                let mut bytes = magic.to_vec();
                pipe.read_to_end(&mut bytes).map_err(failed)?;
                Ok(Whole::Bytes(bytes.into()))
            }
        }
    }

    /// Opens a binary file: its decoders are not proof against every damaged one, and some of those
    /// make them panic.
    pub(crate) fn guarded<T, E: fmt::Display>(
        path: &Path,
        what: &str,
        open: impl FnOnce() -> std::result::Result<T, E>,
    ) -> Result<T> {
        let opened = catch_unwind(AssertUnwindSafe(|| open().map_err(|error| error.to_string())));
        opened.unwrap_or_else(|_| Err("it is damaged".to_owned())).map_err(|why| {
            Error::data(
                "damaged-file",
                format!("{} is not a readable {what} file: {why}", path.display()),
            )
            .about_file(path)
        })
    }
}
