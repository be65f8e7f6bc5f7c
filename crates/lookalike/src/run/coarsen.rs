//! The columns that are published otherwise than they are, though no search looks at them: rounded
//! numbers, numbers coded at the top and the bottom, hashes of identifiers.
//!
//! The cells are replaced when the table is read, so that rules, warnings and the release know only
//! what is published. The audit has the cells of the source and computes both anew.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_cast::{CastOptions, can_cast_types, cast_with_options};
use arrow_schema::DataType;
use hmac::{Hmac, KeyInit, Mac};
use rustc_hash::FxHashSet;
use sha2::Sha256;

use crate::domain::coarsening::Coarsening;
use crate::error::{Error, Hint, Result};
use crate::forms::Form;
use crate::request::{HashSecret, Request};
use crate::rng::{HASHES, Key};
use crate::table::{Column, Table};

/// Makes the numbers coarser that the request wants coarser, in codes and in cells. The forms of the
/// columns are known.
///
/// # Example
/// ```
/// use lookalike::table::{self, Treatment};
/// use lookalike::{Request, run::coarsen};
///
/// let request = Request::parse(
///     "k = 2\ncolumns.age.role = 'quasi'\ncolumns.pay = { role = 'keep', round = 100, top = 900 }",
/// )?;
/// let source = table::open_text("age,pay\n30,149\n31,2000\n".into(), "t.csv".as_ref())?;
/// let mut table = source.read(&[Treatment::Code, Treatment::CodeAndPassThrough])?;
/// coarsen(&mut table, &request)?;
/// assert_eq!(table.coded("pay").values(), [Some("100".to_string()), Some("900".to_string())]);
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// [`Data`](crate::ErrorKind::Data) when a cell of such a column is no number.
pub fn coarsen(table: &mut Table, request: &Request) -> Result<()> {
    let is_text = table.is_text();
    for column in table.columns_mut() {
        let Some(line) = request.column(&column.name) else { continue };
        let Some(coarsening) = Coarsening::of(line) else { continue };
        let is_kept = |text: &str| {
            text == "NaN" || request.missing.iter().any(|marker| marker.trim() == text.trim())
        };
        let plain = |text: &str| match is_kept(text) {
            true => Some(text.to_owned()),
            false => coarsening.text(text),
        };
        if let Some(coded) = &column.coded {
            let faulty = coded.values().iter().zip(coded.first_row());
            let faulty = faulty
                .filter(|(value, _)| value.as_deref().is_some_and(|text| plain(text).is_none()));
            if let Some(row) = faulty.map(|(_, &row)| row).min() {
                return Err(not_a_number(&column.name, u64::from(row)));
            }
            column.coded = Some(coded.respelt(plain));
        }
        let form = line.format.as_ref().filter(|_| is_text);
        replace_cells(column, |text| match form {
            Some(_) if is_kept(text) => Some(text.to_owned()),
            Some(form) => Some(local(form, &plain(&form.plain(text)?)?)),
            None => plain(text),
        })?;
    }
    Ok(())
}

fn local(form: &Form, plain: &str) -> String {
    form.local_label(plain)
}

fn not_a_number(name: &str, row: u64) -> Error {
    Error::data(
        "not-a-number",
        "not a number that can be rounded or coded at the top or the bottom",
    )
    .at_row(name, row)
    .hint(Hint::NameMissing { texts: Vec::new() })
}

/// Replaces every cell that is there, whatever its type, by way of its text.
fn replace_cells(column: &mut Column, text: impl Fn(&str) -> Option<String>) -> Result<()> {
    let Some(chunks) = &mut column.passthrough else { return Ok(()) };
    let name = &column.name;
    let mut first = 0;
    for chunk in chunks {
        let texts = as_texts(chunk, name)?;
        let mut cells = Vec::with_capacity(texts.len());
        for (at, cell) in texts.iter().enumerate() {
            let cell = cell.filter(|cell| !cell.is_empty());
            let replaced =
                cell.map(|cell| text(cell).ok_or_else(|| not_a_number(name, (first + at) as u64)));
            cells.push(replaced.transpose()?);
        }
        first += texts.len();
        let cells: ArrayRef = Arc::new(StringArray::from(cells));
        *chunk = cast(&cells, &column.data_type).map_err(|_| does_not_fit(name))?;
    }
    Ok(())
}

fn as_texts(cells: &ArrayRef, name: &str) -> Result<StringArray> {
    let texts = cast(cells, &DataType::Utf8).map_err(|_| does_not_fit(name))?;
    Ok(texts.as_string::<i32>().clone())
}

/// A cast that fails instead of making a cell missing.
fn cast(
    cells: &ArrayRef,
    to: &DataType,
) -> std::result::Result<ArrayRef, arrow_schema::ArrowError> {
    cast_with_options(cells, to, &CastOptions { safe: false, ..CastOptions::default() })
}

fn does_not_fit(name: &str) -> Error {
    let reason = "a rounded number does not fit the type of the column: choose a step, a top and a \
                  bottom that the type can have (whole numbers, not too large)";
    Error::data("coarser-does-not-fit", reason).at_column(name)
}

/// The columns that are about to be replaced, for an audit that compares the release with the table
/// as it was.
pub(super) fn unreplaced(table: &Table, request: &Request) -> Vec<Column> {
    let is_replaced = |column: &&Column| {
        request.column(&column.name).is_some_and(|line| line.is_coarsened() || line.hash)
    };
    table.columns().iter().filter(is_replaced).cloned().collect()
}

/// Puts the hash of each identifier in its place.
///
/// # Errors
/// [`Data`](crate::ErrorKind::Data) when two rows have the same identifier: their hashes would
/// connect them.
pub(super) fn hash(table: &mut Table, request: &Request) -> Result<()> {
    let Some(secret) = &request.output.hash_secret else { return Ok(()) };
    for column in table.columns_mut() {
        if !request.column(&column.name).is_some_and(|line| line.hash) {
            continue;
        }
        let Some(chunks) = &mut column.passthrough else { continue };
        let mut seen: FxHashSet<[u8; 16]> = FxHashSet::default();
        let mut repeated = 0_u64;
        for chunk in chunks {
            let has_text = can_cast_types(chunk.data_type(), &DataType::Utf8);
            let texts = has_text.then(|| cast(chunk, &DataType::Utf8).ok()).flatten();
            let Some(texts) = texts else {
                let reason =
                    format!("cells of type {} have no text to be hashed", chunk.data_type());
                return Err(Error::data("no-text", reason).at_column(&column.name));
            };
            let hashed = |text: Option<&str>| {
                let hash = hash_of(secret, text.filter(|text| !text.is_empty())?);
                repeated += u64::from(!seen.insert(hash));
                Some(hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
            };
            let hashes: StringArray = texts.as_string::<i32>().iter().map(hashed).collect();
            *chunk = Arc::new(hashes);
        }
        if repeated > 0 {
            let reason = format!(
                "{repeated} rows have the identifier of an earlier row: equal hashes would connect \
                 rows of different classes, and that can show who they are"
            );
            return Err(Error::data("hash-repeats", reason)
                .at_column(&column.name)
                .hint(Hint::NamePerson { column: column.name.clone() }));
        }
        column.data_type = DataType::Utf8;
    }
    Ok(())
}

/// The first half of HMAC-SHA-256.
fn hash_of(secret: &HashSecret, text: &str) -> [u8; 16] {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.bytes()).expect("a key of any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes()[..16].try_into().expect("half of 32 bytes")
}

/// The least number of bytes of a key: whoever can try all keys can try all identifiers.
const LEAST_KEY: usize = 16;

/// The secret of the hashes for a run: that of the key file, or a new one, which is drawn under the
/// key of the run. None where nothing is hashed.
pub(super) fn secret_of_run(request: &Request) -> Result<Option<HashSecret>> {
    if !request.columns.values().any(|line| line.hash) {
        return Ok(None);
    }
    match &request.output.hash_key {
        Some(path) => secret_in(path).map(Some),
        None => {
            let mut draws = Key::of(request.seed).draws(HASHES);
            let bytes = (0..4).flat_map(|_| draws.next_u64().to_le_bytes()).collect();
            Ok(Some(HashSecret::new(bytes)))
        }
    }
}

/// The secret of the hashes for a later audit: that of the key file that the request names; none where
/// the file is not at hand.
///
/// # Errors
/// When the key file is too short.
pub fn hash_secret(request: &Request) -> Result<Option<HashSecret>> {
    match &request.output.hash_key {
        Some(path) if path.exists() => secret_in(path).map(Some),
        _ => Ok(None),
    }
}

fn secret_in(path: &Path) -> Result<HashSecret> {
    let mut bytes = std::fs::read(path).map_err(|source| Error::io(path, source))?;
    while matches!(bytes.last(), Some(b'\n' | b'\r')) {
        bytes.pop();
    }
    if bytes.len() < LEAST_KEY {
        let reason = format!(
            "the key of the hashes has {} bytes: it needs {LEAST_KEY} at least, for example those \
             of `openssl rand -hex 32`",
            bytes.len()
        );
        return Err(Error::request("short-hash-key", reason).at_file(path));
    }
    Ok(HashSecret::new(bytes))
}
