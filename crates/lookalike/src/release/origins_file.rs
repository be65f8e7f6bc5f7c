//! The origins of released rows as a file: which released row stands for which source row. As secret
//! as the source.

use std::io::{Read, Write};

use super::proof::{each_line, row_from_1};
use crate::audit::Origin;
use crate::error::Result;

const HEADER: [&str; 3] = ["released_row", "source_row", "rows"];

/// True for the first line of a file of origins.
pub fn is_header(line: &str) -> bool {
    line.trim_end().split(',').eq(HEADER)
}

/// Writes origins as CSV: one line each, rows counted from 1.
///
/// # Example
/// ```
/// use lookalike::audit::Origin;
/// use lookalike::release::origins_file::{read_origins, write_origins};
///
/// let origins = [Origin { released: 0, source: 4, count: 2 }];
/// let mut file = Vec::new();
/// write_origins(&origins, &mut file)?;
/// assert_eq!(file, b"released_row,source_row,rows\n1,5,2\n");
/// assert_eq!(read_origins(&*file)?, origins);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the file cannot be written.
pub fn write_origins(origins: &[Origin], file: impl Write) -> std::io::Result<()> {
    let mut writer = csv::Writer::from_writer(file);
    writer.write_record(HEADER)?;
    for origin in origins {
        let cells =
            [u64::from(origin.released) + 1, u64::from(origin.source) + 1, origin.count.into()];
        writer.write_record(cells.map(|cell| cell.to_string()))?;
    }
    writer.flush()
}

/// Reads origins that [`write_origins`] wrote.
///
/// # Errors
/// When they are not such a file; the message names the line.
pub fn read_origins(file: impl Read) -> Result<Vec<Origin>> {
    let mut origins = Vec::new();
    let numbers = "three whole numbers from 1";
    each_line(file, "a proof for persons", HEADER, numbers, |[released, source, count]| {
        let count = u32::try_from(count).ok().filter(|count| *count > 0)?;
        let (released, source) = (row_from_1(released)?, row_from_1(source)?);
        origins.push(Origin { released, source, count });
        Some(())
    })?;
    Ok(origins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::RowId;

    #[test]
    fn origins_are_read_as_they_were_written() {
        let last = RowId::MAX;
        let origins: Vec<Origin> = [(0, 4, 1), (1, 0, 1), (1, 2, 3), (last, last, last)]
            .map(|(released, source, count)| Origin { released, source, count })
            .to_vec();
        let mut file = Vec::new();
        write_origins(&origins, &mut file).unwrap();
        let text = std::str::from_utf8(&file).unwrap();
        assert!(is_header(text.lines().next().unwrap()) && !is_header("ring,window"));
        assert_eq!(text.lines().nth(3).unwrap(), "2,3,3");
        assert_eq!(read_origins(&*file).unwrap(), origins);
    }

    #[test]
    fn a_file_that_has_no_origins_is_refused_with_the_line() {
        let head = HEADER.join(",");
        for (text, said) in [
            ("age,zip\n1,2\n".to_string(), "not a proof for persons"),
            (format!("{head}\n1,2\n"), "line 2"),
            (format!("{head}\n1,2,1\n0,2,1\n"), "line 3"),
            (format!("{head}\n1,0,1\n"), "line 2"),
            (format!("{head}\n1,1,0\n"), "line 2"),
            (format!("{head}\n1,4294967297,1\n"), "line 2"),
            (format!("{head}\n1,1,x\n"), "line 2"),
        ] {
            let why = read_origins(text.as_bytes()).unwrap_err().to_string();
            assert!(why.contains(said), "{why}");
        }
    }
}
