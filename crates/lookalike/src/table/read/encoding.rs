//! Text in other encodings than UTF-8, which becomes UTF-8 as it is read.

use std::io::{self, Chain, Cursor, Read};

use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};

use crate::error::{Error, Hint, Result, Warning};

use super::bytes::{Unpacked, head};

/// The encoding of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Encoding(&'static encoding_rs::Encoding);

impl Encoding {
    pub(super) const UTF8: Encoding = Encoding(encoding_rs::UTF_8);

    /// The encoding of a name, such as `windows-1252`, `latin1` or `utf-16le`.
    pub(super) fn named(name: &str) -> Result<Encoding> {
        let found = encoding_rs::Encoding::for_label(name.trim().as_bytes());
        found.map(Encoding).ok_or_else(|| {
            Error::request(
                "unknown-encoding",
                format!(
                    "there is no encoding `{name}`; some are utf-8, windows-1252 (Western Europe), \
                     windows-1250 (Central Europe), iso-8859-15, utf-16le, shift_jis"
                ),
            )
        })
    }

    /// The encoding that the first bytes of a text show. Bytes that are no UTF-8 are taken for
    /// Windows-1252, as Excel writes CSV in Western Europe, and a note says so: nothing else in them
    /// tells it from its relatives.
    pub(super) fn of(head: &[u8], notes: &mut Vec<Warning>) -> Encoding {
        if let Some((marked, _)) = encoding_rs::Encoding::for_bom(head) {
            return Encoding(marked);
        }
        let is_utf8 = match std::str::from_utf8(head) {
            Ok(_) => true,
            // The end of the head may cut a character.
            Err(bad) => bad.error_len().is_none() && head.len() - bad.valid_up_to() < 4,
        };
        if is_utf8 || head.contains(&0) {
            return Encoding(encoding_rs::UTF_8);
        }
        notes.push(
            Warning::new(
                "read-as-windows-1252",
                "the table is not in UTF-8 and is read as Windows-1252 (Western Europe); letters \
                 with accents are wrong if it is another encoding",
            )
            .hint(Hint::SetEncoding),
        );
        Encoding(encoding_rs::WINDOWS_1252)
    }
}

/// Bytes of which the first ones have already been looked at.
type Bytes = Chain<Cursor<Vec<u8>>, Unpacked>;

/// Bytes of a text as UTF-8. Bytes that claim to be UTF-8 pass as they are.
#[allow(clippy::large_enum_variant, reason = "there is one per table")]
pub(crate) enum Decoded {
    Utf8(Unpacked),
    Other(DecodeReaderBytes<Bytes, Vec<u8>>),
}

impl Decoded {
    /// The stream as UTF-8, and its first bytes, at most `limit`. `start` has been read from the stream
    /// already, so many bytes of it or all.
    ///
    /// # Errors
    /// When the stream cannot be read.
    pub(super) fn new(
        encoding: Encoding,
        start: Vec<u8>,
        stream: Unpacked,
        limit: u64,
    ) -> io::Result<(Decoded, Vec<u8>)> {
        if encoding.0 == encoding_rs::UTF_8 {
            return Ok((Decoded::Utf8(stream), start));
        }
        let bytes = Cursor::new(start).chain(stream);
        let decoder = DecodeReaderBytesBuilder::new().encoding(Some(encoding.0)).build(bytes);
        let mut decoded = Decoded::Other(decoder);
        let head = head(&mut decoded, limit)?;
        Ok((decoded, head))
    }
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Decoded::Utf8(stream) => stream.read(buffer),
            Decoded::Other(decoder) => decoder.read(buffer),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::table::{ReadOptions, Treatment, open_reader};

    /// Names and the first row of a table, and the codes of the notes.
    fn read(bytes: &[u8], options: ReadOptions) -> Result<(Vec<String>, Vec<&'static str>)> {
        let source = open_reader(Cursor::new(bytes.to_vec()), Path::new("t.csv"), options)?;
        let notes = source.notes().iter().map(Warning::code).collect();
        let mut found = source.names().to_vec();
        let all = vec![Treatment::Code; found.len()];
        let table = source.read(&all)?;
        let first = |name: &String| table.coded(name).values()[0].clone().unwrap_or_default();
        let cells: Vec<String> = found.iter().map(first).collect();
        found.extend(cells);
        Ok((found, notes))
    }

    const TEXT: &str = "Größe;Straße\n175,0;Müllerstraße – €\n";

    #[test]
    fn other_encodings_are_known_by_their_bytes() {
        let utf16 = |swap: bool| -> Vec<u8> {
            let units = TEXT.encode_utf16();
            let bytes = |unit: u16| if swap { unit.to_be_bytes() } else { unit.to_le_bytes() };
            std::iter::once(0xfeff).chain(units).flat_map(bytes).collect()
        };
        let western = encoding_rs::WINDOWS_1252.encode(TEXT).0.into_owned();
        let wanted = ["Größe", "Straße", "175,0", "Müllerstraße – €"];
        for (bytes, notes) in [
            (TEXT.as_bytes().to_vec(), vec![]),
            ([b"\xef\xbb\xbf", TEXT.as_bytes()].concat(), vec![]),
            (utf16(false), vec![]),
            (utf16(true), vec![]),
            (western, vec!["read-as-windows-1252"]),
        ] {
            let (found, said) = read(&bytes, ReadOptions::default()).unwrap();
            assert_eq!((found, said), (wanted.map(String::from).to_vec(), notes));
        }
    }

    #[test]
    fn an_encoding_can_be_named() {
        let polish = encoding_rs::WINDOWS_1250.encode("imię,wiek\nŁucja,30\n").0.into_owned();
        let named = |name: &str| ReadOptions { encoding: Some(name.into()), ..Default::default() };
        let (found, notes) = read(&polish, named("windows-1250")).unwrap();
        assert_eq!((found[0].as_str(), found[2].as_str(), notes.len()), ("imię", "Łucja", 0));
        assert_eq!(read(&polish, named("klingon")).unwrap_err().code(), "unknown-encoding");
        // UTF-8 as it is named, with other bytes: an error with the line.
        let error = read(b"a\nb\n\xff\n", named("utf-8")).unwrap_err();
        assert_eq!((error.code(), error.place().line), ("not-utf8", Some(3)));
    }

    #[test]
    fn other_bytes_far_below_are_an_error_with_the_line() {
        let mut bytes = b"a,b\n".to_vec();
        let rows = 200_000;
        (0..rows).for_each(|_| bytes.extend(b"1,xyzxyz\n"));
        bytes.extend(b"2,M\xfcller\n");
        let error = read(&bytes, ReadOptions::default()).unwrap_err();
        assert_eq!((error.code(), error.place().line), ("not-utf8", Some(rows + 2)));
        assert_eq!(error.hints(), [Hint::SetEncoding]);
    }
}
