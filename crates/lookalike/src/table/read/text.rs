//! Text in chunks, each of which is valid UTF-8 by itself.
//!
//! Delimiters, quotes and line ends are ASCII, so a cell that is cut out of checked text is text
//! itself. Checking the bytes before they are cut is faster than checking cell by cell, and it knows
//! the line.

use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use crate::error::{Error, Hint, Place, Result};

use super::bytes::reading;

/// Bytes read at a time: few enough to be still in the cache when they are cut into cells.
const CHUNK: usize = 1 << 18;

/// A reader whose bytes are checked as they arrive; they go straight into the caller's buffer.
pub(crate) struct Text<R> {
    bytes: R,
    place: PathBuf,
    /// The first bytes of a character of which the rest has not been read yet; at most three.
    torn: Vec<u8>,
    /// Line ends in all chunks so far.
    lines: u64,
}

impl<R: Read> Text<R> {
    /// `lines` are those that somebody else has read before.
    pub(crate) fn new(bytes: R, place: PathBuf, lines: u64) -> Text<R> {
        Text { bytes, place, torn: Vec::new(), lines }
    }

    /// Appends the next chunk to `text` and returns its length, which is 0 at the end only.
    pub(crate) fn fill(&mut self, text: &mut Vec<u8>) -> Result<usize> {
        let start = text.len();
        text.append(&mut self.torn);
        loop {
            let before = text.len();
            text.resize(start + CHUNK, 0);
            let read = loop {
                match self.bytes.read(&mut text[before..]) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    read => break read.map_err(|error| reading(&self.place, error))?,
                }
            };
            text.truncate(before + read);
            let good = match std::str::from_utf8(&text[start..]) {
                Ok(text) => text.len(),
                Err(bad) if bad.error_len().is_none() && read > 0 => bad.valid_up_to(),
                Err(bad) => {
                    let before = &text[start..start + bad.valid_up_to()];
                    return Err(not_utf8(self.lines + line_ends(before) + 1));
                }
            };
            if read == 0 || good > 0 {
                self.torn.extend_from_slice(&text[start + good..]);
                text.truncate(start + good);
                return self.checked(&text[start..]);
            }
        }
    }

    fn checked(&mut self, chunk: &[u8]) -> Result<usize> {
        // Without a branch the compiler turns it into wide instructions.
        if chunk.iter().fold(0, |found, &byte| found | u8::from(byte == 0)) != 0 {
            let before = chunk.iter().take_while(|&&byte| byte != 0);
            let lines = before.filter(|&&byte| byte == b'\n').count() as u64;
            return Err(has_nul(self.lines + lines + 1));
        }
        self.lines += line_ends(chunk);
        Ok(chunk.len())
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
    let why = format!("line {line} is not UTF-8 text");
    Error::data("not-utf8", why)
        .about(Place { line: Some(line), ..Place::default() })
        .hint(Hint::SetEncoding)
}

fn has_nul(line: u64) -> Error {
    let why = format!("line {line} has a NUL byte, so this is no CSV in UTF-8: export it as CSV");
    Error::data("has-nul", why)
        .about(Place { line: Some(line), ..Place::default() })
        .hint(Hint::SetEncoding)
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
        let mut text = Text::new(Drops { bytes, step }, PathBuf::from("-"), 0);
        let mut got = Vec::new();
        loop {
            let before = got.len();
            let filled = text.fill(&mut got)?;
            assert_eq!(filled, got.len() - before);
            std::str::from_utf8(&got[before..]).expect("every chunk is text by itself");
            if filled == 0 {
                return Ok(got);
            }
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
