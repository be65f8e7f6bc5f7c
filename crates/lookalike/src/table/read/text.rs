//! Text in chunks, each of which is valid UTF-8 by itself.
//!
//! The CSV decoder checks the text of a batch as one piece and then cuts it at cell borders, so a
//! character that is torn apart by a delimiter would pass. Delimiters, quotes and line ends are
//! ASCII: checking the bytes before they are cut leaves no such gap, and it knows the line.

use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use crate::error::{Error, Result};

use super::bytes::reading;

const CHUNK: usize = 1 << 18;

/// A checked reader; `next_chunk` lends its buffer, so nothing is copied twice.
pub(crate) struct Text<R> {
    bytes: R,
    place: PathBuf,
    buffer: Vec<u8>,
    filled: usize,
    checked: usize,
    /// Line ends in all chunks before this one.
    lines: u64,
}

impl<R: Read> Text<R> {
    pub(crate) fn new(bytes: R, place: PathBuf) -> Text<R> {
        Text { bytes, place, buffer: vec![0; CHUNK], filled: 0, checked: 0, lines: 0 }
    }

    /// The next piece of text, empty at the end.
    pub(crate) fn next_chunk(&mut self) -> Result<&[u8]> {
        self.lines += line_ends(&self.buffer[..self.checked]);
        // A character that the last read cut in two waits at the end of the buffer for its other
        // half.
        self.buffer.copy_within(self.checked..self.filled, 0);
        self.filled -= self.checked;
        self.checked = 0;
        loop {
            let read = match self.bytes.read(&mut self.buffer[self.filled..]) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(reading(&self.place, error)),
            };
            self.filled += read;
            self.checked = match std::str::from_utf8(&self.buffer[..self.filled]) {
                Ok(text) => text.len(),
                Err(bad) if bad.error_len().is_none() && read > 0 => bad.valid_up_to(),
                Err(bad) => {
                    let line = self.lines + line_ends(&self.buffer[..bad.valid_up_to()]) + 1;
                    return Err(not_utf8(line));
                }
            };
            let chunk = &self.buffer[..self.checked];
            if chunk.contains(&0) {
                let before = chunk.iter().position(|&byte| byte == 0).unwrap_or(0);
                return Err(has_nul(self.lines + line_ends(&chunk[..before]) + 1));
            }
            if read == 0 || self.checked > 0 {
                return Ok(&self.buffer[..self.checked]);
            }
        }
    }
}

/// How many lines end in these bytes.
pub(crate) fn line_ends(bytes: &[u8]) -> u64 {
    // Sums of a byte each are what the compiler turns into wide instructions.
    bytes
        .chunks(255)
        .map(|chunk| u64::from(chunk.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>()))
        .sum()
}

fn not_utf8(line: u64) -> Error {
    Error::data(format!(
        "line {line} is not UTF-8 text: convert the file, for example with iconv -f LATIN1 -t UTF-8"
    ))
}

fn has_nul(line: u64) -> Error {
    Error::data(format!(
        "line {line} has a NUL byte, so this is no CSV in UTF-8: export it as CSV, or convert it, for example with iconv -f UTF-16 -t UTF-8"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out at most `step` bytes at a time, as a slow pipe would.
    struct Drops<'a> {
        bytes: &'a [u8],
        step: usize,
    }

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let n = self.step.min(self.bytes.len()).min(buffer.len());
            buffer[..n].copy_from_slice(&self.bytes[..n]);
            self.bytes = &self.bytes[n..];
            Ok(n)
        }
    }

    fn all(bytes: &[u8], step: usize) -> Result<Vec<u8>> {
        let mut text = Text::new(Drops { bytes, step }, PathBuf::from("-"));
        let mut got = Vec::new();
        loop {
            let chunk = text.next_chunk()?;
            std::str::from_utf8(chunk).expect("every chunk is text by itself");
            if chunk.is_empty() {
                return Ok(got);
            }
            got.extend_from_slice(chunk);
        }
    }

    #[test]
    fn a_character_cut_by_a_read_is_put_together_again() {
        let text = "a€b\nü😀,ß\n".repeat(50);
        for step in 1..8 {
            assert_eq!(all(text.as_bytes(), step).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn broken_text_is_refused_with_its_line_however_it_arrives() {
        for (bytes, line) in [
            (&b"a\nb\xff\nc"[..], "line 2 is not UTF-8"),
            (b"a,b\n\xc3,\xa9\n", "line 2 is not UTF-8"),
            (b"a\n\n\nb\xe2\x82", "line 4 is not UTF-8"),
            (b"a\nb\0\n", "line 2 has a NUL"),
        ] {
            for step in [1, 2, 3, 100] {
                let error = all(bytes, step).unwrap_err().to_string();
                assert!(error.starts_with(line), "{error}");
            }
        }
    }

    #[test]
    fn line_ends_are_counted_beyond_a_byte() {
        assert_eq!(line_ends(&b"\n".repeat(1000)), 1000);
        assert_eq!(line_ends(b"a\r\nb\n"), 2);
    }
}
