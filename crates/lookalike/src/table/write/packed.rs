//! Compressed files.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use super::Compression;

/// A file behind its compressor.
pub(super) enum Packed {
    Plain(BufWriter<File>),
    #[cfg(feature = "compression")]
    Gzip(flate2::write::GzEncoder<BufWriter<File>>),
    #[cfg(feature = "compression")]
    Zstd(zstd::Encoder<'static, BufWriter<File>>),
}

impl Packed {
    pub(super) fn new(out: BufWriter<File>, compression: Compression) -> io::Result<Packed> {
        Ok(match compression {
            Compression::None => Packed::Plain(out),
            #[cfg(feature = "compression")]
            Compression::Gzip => {
                Packed::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::default()))
            }
            #[cfg(feature = "compression")]
            Compression::Zstd => {
                let mut encoder = zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                encoder.include_checksum(true)?;
                Packed::Zstd(encoder)
            }
            #[cfg(not(feature = "compression"))]
            _ => return Err(io::ErrorKind::Unsupported.into()),
        })
    }

    pub(super) fn finish(self) -> io::Result<BufWriter<File>> {
        match self {
            Packed::Plain(out) => Ok(out),
            #[cfg(feature = "compression")]
            Packed::Gzip(encoder) => encoder.finish(),
            #[cfg(feature = "compression")]
            Packed::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Packed::Plain(out) => out.write(bytes),
            #[cfg(feature = "compression")]
            Packed::Gzip(encoder) => encoder.write(bytes),
            #[cfg(feature = "compression")]
            Packed::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packed::Plain(out) => out.flush(),
            #[cfg(feature = "compression")]
            Packed::Gzip(encoder) => encoder.flush(),
            #[cfg(feature = "compression")]
            Packed::Zstd(encoder) => encoder.flush(),
        }
    }
}
