//! Which file it was: its name, size and SHA-256.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use lookalike::{Error, Result};
use sha2::{Digest, Sha256};

/// What a record says of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileRecord {
    pub(super) bytes: u64,
    /// In hexadecimal, as `sha256sum` prints it.
    pub(super) sha256: String,
}

/// Bytes that are read at once.
const PART: usize = 1 << 20;

/// Reads a file for its checksum.
pub(super) fn file_record(path: &Path) -> Result<FileRecord> {
    let failed = |source| Error::io(path, source);
    let mut file = File::open(path).map_err(failed)?;
    let (mut sum, mut bytes, mut part) = (Sha256::new(), 0, vec![0; PART]);
    loop {
        match file.read(&mut part).map_err(failed)? {
            0 => break,
            length => {
                sum.update(&part[..length]);
                bytes += length as u64;
            }
        }
    }
    let sha256 = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(FileRecord { bytes, sha256 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of FIPS 180-2, appendix B.
    #[test]
    fn the_checksum_is_that_of_the_standard() {
        let path = std::env::temp_dir().join(format!("lookalike-sum-{}", std::process::id()));
        for (text, sum) in [
            ("abc".to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "a".repeat(1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
            ),
        ] {
            std::fs::write(&path, &text).unwrap();
            let found = file_record(&path);
            std::fs::remove_file(&path).unwrap();
            let expected = FileRecord { bytes: text.len() as u64, sha256: sum.to_string() };
            assert_eq!(found.unwrap(), expected);
        }
    }
}
