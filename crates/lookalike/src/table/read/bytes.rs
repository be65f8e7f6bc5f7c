//! Bytes from a file or standard input, unpacked if they are compressed.

use std::fs::File;
use std::io::{self, BufReader, Chain, Cursor, ErrorKind, Read, Stdin};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Result};

/// Where bytes come from.
pub(crate) enum Raw {
    File(File),
    Stdin(Stdin),
    /// What was looked at before is all there is.
    Nothing,
}

impl Raw {
    pub(crate) fn open(place: &Path) -> Result<Raw> {
        if place == Path::new("-") {
            return Ok(Raw::Stdin(io::stdin()));
        }
        let file = File::open(place).map_err(|source| Error::io(place, source))?;
        let about = file.metadata().map_err(|source| Error::io(place, source))?;
        if about.is_dir() {
            return Err(Error::io(place, ErrorKind::IsADirectory.into()));
        }
        Ok(Raw::File(file))
    }
}

impl Read for Raw {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Raw::File(file) => file.read(buffer),
            Raw::Stdin(stdin) => stdin.read(buffer),
            Raw::Nothing => Ok(0),
        }
    }
}

/// Bytes of which the first ones have already been looked at.
pub(crate) type Peeked = Chain<Cursor<Vec<u8>>, Raw>;

/// Unpacked bytes.
#[allow(clippy::large_enum_variant, reason = "there is one per program")]
pub(crate) enum Stream {
    Plain(Peeked),
    Gzip(MultiGzDecoder<Peeked>),
    Zstd(zstd::Decoder<'static, BufReader<Peeked>>),
}

impl Stream {
    /// Recognises compression by its first bytes.
    pub(crate) fn new(magic: &[u8], bytes: Peeked) -> io::Result<Stream> {
        Ok(match magic {
            [0x1f, 0x8b, ..] => Stream::Gzip(MultiGzDecoder::new(bytes)),
            // The second form is a skippable frame, with which parallel compressors begin.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Stream::Zstd(zstd::Decoder::new(bytes)?)
            }
            _ => Stream::Plain(bytes),
        })
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(bytes) => bytes.read(buffer),
            Stream::Gzip(decoder) => decoder.read(buffer),
            Stream::Zstd(decoder) => decoder.read(buffer),
        }
    }
}

/// The first `limit` bytes, fewer only if there are no more: a pipe may deliver them in drops.
pub(crate) fn head(from: &mut impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What the system refused is an I/O error; what a decompressor refused is a damaged file.
pub(crate) fn reading(place: &Path, source: io::Error) -> Error {
    if source.raw_os_error().is_some() {
        return Error::io(place, source);
    }
    Error::data(format!(
        "{} is damaged or cut short ({source}): fetch or compress it again",
        place.display()
    ))
}
