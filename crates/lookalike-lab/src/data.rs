//! The tables that the papers use: Adult from the files of a folder, the others made up. Every
//! table has a fingerprint.

use std::path::{Path, PathBuf};

use lookalike::synthetic::{self, PointGrid, Synthetic};
use lookalike::table::{Table, Treatment};
use lookalike::{Error, Result, table};

use crate::taxonomies::interval;

/// A table with a name and a fingerprint of its cells.
#[derive(Debug)]
pub(crate) struct Data {
    /// Its name in progress, files and pages.
    pub(crate) name: String,
    /// Its rows and a hash of its cells.
    pub(crate) fingerprint: String,
    pub(crate) table: Table,
}

/// The columns of Adult that any experiment uses, in the order of the papers.
pub(crate) const NINE: [&str; 9] = [
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
    "salary-class",
];

/// Where they stand in a line of the UCI files, which have this many cells.
const PLACES: [usize; 9] = [0, 1, 3, 5, 6, 8, 9, 13, 14];
const CELLS: usize = 15;

/// The reason why a claim was not run, and the way to Adult.
pub(crate) const FETCH: &str = "needs Adult: fetch adult.data and adult.test (UCI Adult, doi 10.24432/C5XW20) and name their folder with --data";

/// The columns of the survey that stand in for those of SAL, in their order.
pub(crate) const SURVEY: [&str; 7] =
    ["age", "gender", "education", "marital", "race", "workclass", "birthplace"];

/// Which part of Adult.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdultPart {
    /// The training part: 30,162 rows without missing values.
    Training,
    /// Both parts: 45,222 rows.
    Both,
}

/// AdultRows of Adult, a cell a column of [`NINE`], none of them missing.
pub(crate) type AdultRows = Vec<Vec<String>>;

/// Reads a part of Adult; none when its files are not in the folder.
pub(crate) fn adult(folder: &Path, part: AdultPart) -> Result<Option<AdultRows>> {
    let (raw, table): (&[&str], &str) = match part {
        AdultPart::Training => (&["adult.data"], "adult_30162.csv"),
        AdultPart::Both => (&["adult.data", "adult.test"], "adult_45222.csv"),
    };
    if let Some(files) = raw.iter().map(|name| find(folder, name)).collect::<Option<Vec<PathBuf>>>()
    {
        let mut rows = AdultRows::new();
        for file in files {
            rows.extend(raw_rows(&table::text(&file)?, &file)?);
        }
        return Ok(Some(rows));
    }
    find(folder, table).map(|file| table_rows(&file)).transpose()
}

/// The file of that name, as it is or compressed.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    ["", ".zst", ".gz"]
        .iter()
        .map(|ending| folder.join(format!("{name}{ending}")))
        .find(|path| path.is_file())
}

/// The complete rows of a UCI file: no header, a comma and a blank between, `?` where a value is
/// missing, a comment that begins with a bar, and in the test part a full stop behind the class.
fn raw_rows(text: &str, file: &Path) -> Result<AdultRows> {
    let mut rows = AdultRows::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('|') {
            continue;
        }
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != CELLS {
            let why = format!(
                "{}, line {number}: {} cells where Adult has {CELLS}: fetch the file again",
                file.display(),
                cells.len()
            );
            return Err(Error::data("wrong-lab-table", why));
        }
        if !cells.contains(&"?") {
            rows.push(
                PLACES
                    .iter()
                    .map(|&place| cells[place].trim_end_matches('.').to_string())
                    .collect(),
            );
        }
    }
    if rows.is_empty() {
        let why = format!("{} has no rows: fetch the file again", file.display());
        return Err(Error::data("wrong-lab-table", why));
    }
    Ok(rows)
}

/// The complete rows of a table with a header.
fn table_rows(file: &Path) -> Result<AdultRows> {
    let source = table::open(file, None)?;
    if let Some(name) = NINE.iter().find(|name| !source.names().iter().any(|known| known == *name))
    {
        let why = format!(
            "{} has no column `{name}`: fetch Adult again (doi 10.24432/C5XW20)",
            file.display()
        );
        return Err(Error::data("wrong-lab-table", why));
    }
    let treat = |name: &String| {
        if NINE.contains(&name.as_str()) { Treatment::Code } else { Treatment::Skip }
    };
    let treatments: Vec<Treatment> = source.names().iter().map(treat).collect();
    let table = source.read(&treatments)?;
    let columns = NINE.map(|name| table.coded(name));
    let cell =
        |row: usize, at: usize| columns[at].values()[columns[at].codes().get(row) as usize].clone();
    let rows = (0..table.rows()).filter_map(|row| {
        (0..NINE.len()).map(|at| cell(row, at).filter(|cell| cell != "?")).collect()
    });
    Ok(rows.collect())
}

/// Adult as it is, with the class of salary as a sensitive column beside.
pub(crate) fn adult_table(name: &str, rows: &AdultRows) -> Result<Data> {
    let treat = |column: &str| {
        if column == "salary-class" { Treatment::CodeAndPassThrough } else { Treatment::Code }
    };
    text_table(name, rows, &NINE.map(treat))
}

/// Adult with ages in intervals of five years.
pub(crate) fn adult_in_intervals(name: &str, rows: &AdultRows) -> Result<Data> {
    let mut rows = rows.clone();
    for (number, row) in (0u64..).zip(&mut rows) {
        let why = "not a number: fetch Adult again";
        let bad = |_| Error::data("wrong-lab-table", why).at_row("age", number);
        row[0] = interval(row[0].parse().map_err(bad)?, 5, 1);
    }
    text_table(name, &rows, &[Treatment::Code; 9])
}

fn text_table(name: &str, rows: &AdultRows, treatments: &[Treatment]) -> Result<Data> {
    let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
    let lines = rows.iter().map(|row| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n");
    let text = format!("{}\n{}", NINE.join(","), lines.collect::<String>());
    Ok(data(name.to_string(), table::open_text(text, Path::new(name))?.read(treatments)?))
}

/// The survey of 2018, if it is in the folder.
pub(crate) fn survey(folder: &Path) -> Result<Option<Data>> {
    let Some(file) = find(folder, "acs2018_sal_occ.csv") else { return Ok(None) };
    let source = table::open(&file, None)?;
    if let Some(name) =
        SURVEY.iter().find(|name| !source.names().iter().any(|known| known == *name))
    {
        let why = format!(
            "{} has no column `{name}`: take it out of the folder, or fetch it again",
            file.display()
        );
        return Err(Error::data("wrong-lab-table", why));
    }
    let treat = |name: &String| {
        if SURVEY.contains(&name.as_str()) { Treatment::Code } else { Treatment::Skip }
    };
    let treatments: Vec<Treatment> = source.names().iter().map(treat).collect();
    Ok(Some(data("acs2018".to_string(), source.read(&treatments)?)))
}

/// So many points of a grid.
pub(crate) fn grid(grid: PointGrid, rows: usize, seed: u64) -> Result<Data> {
    let name =
        grid.sigma.map_or("uniform".to_string(), |sigma| format!("gaussian, sigma = {sigma}"));
    let table = table::in_memory(&synthetic::grid_schema(&grid), 1, |_| {
        Ok(synthetic::grid_batch(&grid, seed, 0, rows))
    })?;
    Ok(data(format!("{name}, {} columns, {rows} rows", grid.columns), table))
}

/// So many rows of a table of made-up workers.
pub(crate) fn workers(kind: Synthetic, rows: usize, seed: u64) -> Result<Data> {
    let table = table::in_memory(&synthetic::schema(kind), 1, |_| {
        Ok(synthetic::batch(kind, seed, 0, rows))
    })?;
    Ok(data(format!("{}, {rows} rows", kind.name()), table))
}

fn data(name: String, table: Table) -> Data {
    let mut hash = Hash::default();
    for column in table.columns() {
        hash.add(column.name.as_bytes());
        if let Some(coded) = &column.coded {
            coded
                .values()
                .iter()
                .for_each(|value| hash.add(value.as_deref().unwrap_or("\0").as_bytes()));
            coded.codes().iter().for_each(|code| hash.add(&code.to_le_bytes()));
        }
    }
    Data { name, fingerprint: format!("{} rows, {}", table.rows(), hash.text()), table }
}

/// The folder, if it can be read and has anything in it that an experiment uses.
pub(crate) fn check_folder(folder: &Path) -> Result<()> {
    let failed = |source| Error::io(folder, source);
    std::fs::read_dir(folder).map_err(failed)?;
    let known = ["adult.data", "adult_30162.csv", "adult_45222.csv", "acs2018_sal_occ.csv"];
    if known.iter().any(|name| find(folder, name).is_some()) {
        return Ok(());
    }
    let why = format!(
        "{} has none of the tables: adult.data and adult.test (UCI Adult, doi 10.24432/C5XW20), adult_30162.csv and adult_45222.csv, or \
         acs2018_sal_occ.csv",
        folder.display()
    );
    Err(Error::request("no-lab-tables", why))
}

/// A hash that is the same for ever (FNV-1a), good enough to distinguish tables and runs.
#[derive(Debug)]
pub(crate) struct Hash(u64);

impl Default for Hash {
    fn default() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    /// Adds some bytes, and where they end.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes.iter().chain(&[0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub(crate) fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: &str = "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, United-States, <=50K\n\
        18, ?, 1, 11th, 7, Never-married, ?, Own-child, White, Male, 0, 0, 40, United-States, <=50K\n\n";
    const TEST: &str = "|1x3 Cross validator\n25, Private, 226802, 11th, 7, Never-married, Sales, Own-child, Black, Male, 0, 0, 40, Cuba, >50K.\n";

    #[test]
    fn both_forms_of_adult_give_the_same_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert!(adult(folder.path(), AdultPart::Training).unwrap().is_none());
        assert!(check_folder(folder.path()).is_err());
        let head = "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,\
                    capital-loss,hours-per-week,native-country,salary-class\n";
        let csv = format!(
            "{head}{}{}",
            RAW.replace(", ", ","),
            TEST.lines().nth(1).unwrap().replace(", ", ",").replace("K.", "K")
        );
        std::fs::write(path("adult_45222.csv"), csv).unwrap();
        let from_table = adult(folder.path(), AdultPart::Both).unwrap().unwrap();
        std::fs::write(path("adult.data"), RAW).unwrap();
        std::fs::write(path("adult.test"), TEST).unwrap();
        let from_raw = adult(folder.path(), AdultPart::Both).unwrap().unwrap();
        assert_eq!(from_raw, from_table);
        assert_eq!(
            from_raw[1],
            ["25", "Private", "11th", "Never-married", "Sales", "Black", "Male", "Cuba", ">50K"]
        );
        assert_eq!(
            adult(folder.path(), AdultPart::Training).unwrap().unwrap().len(),
            1,
            "rows with a missing value are skipped"
        );
        check_folder(folder.path()).unwrap();
        let ages = adult_in_intervals("a", &from_raw).unwrap();
        assert_eq!(
            ages.table.coded("age").values(),
            [Some("[36-40]".to_string()), Some("[21-25]".to_string())]
        );
    }

    #[test]
    fn the_fingerprint_follows_the_cells() {
        let grid = |sigma, rows| {
            super::grid(PointGrid { columns: 2, sigma }, rows, 1).unwrap().fingerprint
        };
        assert_eq!(grid(None, 50), grid(None, 50));
        assert_ne!(grid(None, 50), grid(None, 51));
        assert_ne!(grid(None, 50), grid(Some(3.0), 50));
    }

    #[test]
    fn a_ragged_line_is_named_by_its_number_alone() {
        let why = raw_rows("39, canary\n", Path::new("adult.data")).unwrap_err().to_string();
        assert!(why.contains("adult.data, line 1: 2 cells") && !why.contains("canary"), "{why}");
    }
}
