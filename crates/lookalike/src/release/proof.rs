//! From rings of tuples to the proof that the audit of non-homogeneous releases needs: the source
//! row and the written row at each place.

use std::io::{Read, Write};

use crate::audit::{Proof, ProofRing};
use crate::codes::RowId;
use crate::error::{Error, Place, Result};
use crate::problem::Problem;
use crate::problem::recoding::Rings;
use crate::release::Release;

/// The proof for a release of these rings.
///
/// Rows with equal tuples are interchangeable: those that went to a class are assigned to the
/// places that sent such a row there.
///
/// # Example
/// ```
/// # use lookalike::{*, release::{CellFormat, Release, proof}, rng::Key, table::Treatment};
/// # let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// # let source = table::open_text("age\n21\n34\n39\n".into(), "data.csv".as_ref())?;
/// # let roles = request.roles(source.names())?;
/// # let table = source.read(&[Treatment::Code])?;
/// # let (problem, key) = (Problem::new(&table, &roles, &request)?, Key::from_system());
/// let options = SearchOptions::new(Algorithm::Ring, 1);
/// let Outcome { recoding, rings, .. } = solve(&problem, options, &Budget::unlimited());
/// let format = CellFormat::Typed;
/// let release = Release::new(&problem, &recoding, &table, &roles, &request, key, format)?;
/// let proof = proof::proof(&problem, &rings.expect("of algorithm ring"), &release)?;
/// assert_eq!((proof.persons.len(), proof.released.len()), (3, 3));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When the passed-through cells cannot be gathered.
pub fn proof(problem: &Problem, rings: &Rings, release: &Release) -> Result<Proof> {
    let mut tuple_of: Vec<u32> =
        vec![0; usize::try_from(problem.row_count()).expect("rows fit in memory")];
    for tuple in (0u32..).take(problem.tuples()) {
        problem.rows_of(tuple).iter().for_each(|&row| tuple_of[row as usize] = tuple);
    }
    // For each written row its class and tuple, and the same for each place that sent a row.
    let written = release.written()?;
    let mut rows: Vec<(u32, u32, u32)> = (0u32..)
        .zip(&written)
        .map(|(at, &(source, class))| (class, tuple_of[source as usize], at))
        .collect();
    let mut senders: Vec<(u32, u32, u32)> = Vec::with_capacity(rows.len());
    // For each place the one whose row is published with the box that begins here.
    let mut sent: Vec<usize> = Vec::with_capacity(rows.len());
    let mut from = 0;
    for ring in &rings.rings {
        for place in 0..ring.places {
            let of = from + (place + ring.shift) % ring.places;
            senders.push((rings.classes[from + place], rings.tuples[of], place_id(from + place)));
            sent.push(of);
        }
        from += ring.places;
    }
    rows.sort_unstable();
    senders.sort_unstable();
    let mut proof = Proof {
        rings: rings
            .rings
            .iter()
            .map(|ring| ProofRing { places: ring.places, window: ring.window })
            .collect(),
        persons: vec![0; rows.len()],
        released: vec![0; rows.len()],
    };
    for (&(_, _, at), &(_, _, place)) in rows.iter().zip(&senders) {
        proof.released[place as usize] = at;
        proof.persons[sent[place as usize]] = written[at as usize].0;
    }
    Ok(proof)
}

/// Writes a proof as CSV: one line per place, ring after ring.
///
/// # Errors
/// When the file cannot be written.
pub fn write(proof: &Proof, file: impl Write) -> std::io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    let mut places = proof.persons.iter().zip(&proof.released);
    writer.write_record(HEADER)?;
    for (number, ring) in (1u64..).zip(&proof.rings) {
        for (&person, &released) in places.by_ref().take(ring.places) {
            let cells =
                [number, ring.window as u64, u64::from(person) + 1, u64::from(released) + 1];
            writer.write_record(cells.map(|cell| cell.to_string()))?;
        }
    }
    writer.flush()
}

/// Reads a proof that [`write()`] wrote.
///
/// # Errors
/// When it is not a proof; the message names the line.
pub fn read(file: impl Read) -> Result<Proof> {
    let mut proof = Proof::default();
    let mut number = 0;
    each_line(file, "a proof", HEADER, "four whole numbers of a proof", |cells| {
        let [ring, window, person, released] = cells;
        let window = usize::try_from(window).ok()?;
        if proof.rings.is_empty() || ring != number {
            proof.rings.push(ProofRing { places: 0, window });
            number = ring;
        }
        let last = proof.rings.last_mut().expect("a ring was pushed above");
        last.places += 1;
        proof.persons.push(row_from_1(person)?);
        proof.released.push(row_from_1(released)?);
        (last.window == window).then_some(())
    })?;
    Ok(proof)
}

/// Reads a file of whole numbers below a header, and takes the numbers of each line.
///
/// # Errors
/// When it has another header, and with the first line that is not so many numbers, or of which
/// `take` makes nothing.
pub(super) fn each_line<const N: usize>(
    file: impl Read,
    what: &str,
    header: [&str; N],
    numbers: &str,
    mut take: impl FnMut([u64; N]) -> Option<()>,
) -> Result<()> {
    let mut reader = csv::Reader::from_reader(file);
    if !reader.headers().is_ok_and(|found| found.iter().eq(header)) {
        let reason = format!("this is not {what}: its first line is not {}", header.join(","));
        return Err(Error::data("not-a-proof", reason));
    }
    for (line, record) in (2u64..).zip(reader.records()) {
        let cells = record.ok().and_then(|record| {
            let cells: Option<Vec<u64>> = record.iter().map(|cell| cell.parse().ok()).collect();
            cells?.try_into().ok()
        });
        cells.and_then(&mut take).ok_or_else(|| {
            let reason = format!("line {line} of the proof is not {numbers}");
            Error::data("bad-proof", reason).about(Place { line: Some(line), ..Place::default() })
        })?;
    }
    Ok(())
}

/// A row by its number, counted from 1.
pub(super) fn row_from_1(number: u64) -> Option<RowId> {
    number.checked_sub(1).and_then(|row| RowId::try_from(row).ok())
}

const HEADER: [&str; 4] = ["ring", "window", "source_row", "released_row"];

fn place_id(place: usize) -> RowId {
    RowId::try_from(place).expect("there are as many places as rows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_read_as_it_was_written() {
        let rings = vec![ProofRing { places: 2, window: 2 }, ProofRing { places: 3, window: 2 }];
        let proof = Proof { rings, persons: vec![4, 0, 1, 2, 3], released: vec![0, 2, 1, 4, 3] };
        let mut file = Vec::new();
        write(&proof, &mut file).unwrap();
        assert_eq!(std::str::from_utf8(&file).unwrap().lines().nth(3).unwrap(), "2,2,2,2");
        assert_eq!(read(&*file).unwrap(), proof);
    }

    #[test]
    fn a_file_that_is_no_proof_is_refused_with_the_line() {
        let head = HEADER.join(",");
        for (text, said) in [
            ("age,zip\n1,2\n".to_string(), "this is not a proof"),
            (format!("{head}\n1,2,1\n"), "line 2"),
            (format!("{head}\n1,2,1,1\n1,3,2,2\n"), "line 3"),
            (format!("{head}\n1,2,0,1\n"), "line 2"),
            (format!("{head}\n1,2,1,4294967297\n"), "line 2"),
            (format!("{head}\n1,2,1,-1\n"), "line 2"),
        ] {
            let why = read(text.as_bytes()).unwrap_err().to_string();
            assert!(why.contains(said), "{why}");
        }
    }
}
