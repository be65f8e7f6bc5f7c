//! The proof files of releases: the rings of a non-homogeneous release, or the source rows behind
//! each released row where rules count persons.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use lookalike::audit::{Origin, Proof};
use lookalike::release::{origins_file, proof};
use lookalike::{Error, Request, Result};

/// A proof file, as its first line says.
#[derive(Debug)]
pub enum ProofFile {
    /// The rings of a non-homogeneous release.
    Rings(Proof),
    /// The source rows of each released row, of a release whose rules count persons.
    Origins(Vec<Origin>),
}

/// The first line of a proof is no longer than this.
const FIRST_LINE: u64 = 1 << 10;

/// Reads a proof file of either form.
///
/// # Errors
/// When it cannot be read, or is no proof.
pub fn read_proof(path: &Path, request: &Request) -> Result<ProofFile> {
    let file = File::open(path).map_err(|source| Error::io(path, source))?;
    read_from(BufReader::new(file), path, request)
}

/// Reads the text of a proof file.
///
/// # Example
/// ```
/// use lookalike::Request;
/// use lookalike_report::proof::{ProofFile, parse_proof};
///
/// let proof = parse_proof("released_row,source_row,rows\n1,2,1\n", &Request::default())?;
/// assert!(matches!(proof, ProofFile::Origins(origins) if origins.len() == 1));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When it is no proof.
pub fn parse_proof(text: &str, request: &Request) -> Result<ProofFile> {
    read_from(text.as_bytes(), Path::new("proof"), request)
}

fn read_from(mut reader: impl BufRead, name: &Path, request: &Request) -> Result<ProofFile> {
    let mut first = Vec::new();
    reader
        .by_ref()
        .take(FIRST_LINE)
        .read_until(b'\n', &mut first)
        .map_err(|source| Error::io(name, source))?;
    let is_of_persons = std::str::from_utf8(&first).is_ok_and(origins_file::is_header);
    let is_of_rings = first.starts_with(b"ring,");
    let whole = first.as_slice().chain(reader);
    // A file that is neither is refused by the reader that was meant.
    if is_of_persons || (request.has_persons() && !is_of_rings) {
        origins_file::read_origins(whole).map(ProofFile::Origins)
    } else {
        proof::read(whole).map(ProofFile::Rings)
    }
}
