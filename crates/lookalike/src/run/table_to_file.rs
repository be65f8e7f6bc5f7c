//! A release in memory goes to a file as a run would write it: written, synced, read back, compared
//! and audited, renamed.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_cast::cast;
use arrow_schema::{DataType, SchemaRef};

use crate::audit::{self, AuditView};
use crate::codes::Code;
use crate::error::{Error, Result};
use crate::release::text_cells::TextCells;
use crate::request::Request;
use crate::table::{self, Access, Existing, FileType, Format, Pending, Source, Table, Treatment};

use super::audit::{complaint, delimiter};
use super::codebook;
use super::publish::incomplete;
use super::target::{ReleasedTable, refuse_overlap};
use super::watch::Cancel;
use super::{Product, forms};

impl ReleasedTable {
    /// Writes the table to a file, `-` is standard output: the file that a run of the same seed
    /// would write. It is read back and every cell compared with those that were audited; the rules
    /// are audited once more where that needs no other table than the release. A plan can only be
    /// read by its owner.
    ///
    /// A text file shows an empty text and a missing cell alike. Where rows have counts, a run makes
    /// one row of two that differ in nothing else; here they stay two.
    ///
    /// # Example
    /// ```
    /// use lookalike::run::{Cancel, Run};
    /// use lookalike::{Request, table};
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let safe = folder.path().join("safe.csv");
    /// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
    /// let source = table::open_text("age\n34\n36\n51\n58\n".into(), "ages".as_ref())?;
    /// let released = Run::new(&request).categories().in_memory(source)?;
    /// released.to_file(&safe, table::Existing::Keep, &Cancel::default())?;
    /// let text = std::fs::read_to_string(&safe).unwrap();
    /// assert_eq!(text, "age\n[34-36]\n[34-36]\n[51-58]\n[51-58]\n");
    /// # Ok::<(), lookalike::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Run::to_file`](super::Run::to_file) for the output: a file that is there already, a name
    /// without a format, a type without a place in the format, a file that the run has read.
    pub fn to_file(
        &self,
        path: impl AsRef<Path>,
        existing: Existing,
        cancel: &Cancel,
    ) -> Result<()> {
        let path = path.as_ref();
        let named = table::file_type(path)?;
        let file_type = self.run.dialect.map_or(named, |dialect| named.in_dialect(path, dialect));
        let request = &self.run.request;
        let hierarchies = request.hierarchy_files();
        let reads: Vec<_> = self.run.reads.iter().cloned().chain(hierarchies).collect();
        let page = self.run.codebook_page;
        let beside = self.codebook.as_ref().map(|_| codebook::paths(path, page));
        let beside = beside.iter().flatten().map(|path| ("the codebook", path.as_path()));
        let outputs: Vec<_> = std::iter::once(("the release", path)).chain(beside).collect();
        refuse_overlap(None, &reads, &outputs)?;
        if self.codebook.is_some() && path == Path::new("-") {
            return Err(codebook::no_name());
        }
        let access = match self.run.product {
            Product::Release => Access::Usual,
            Product::Plan => Access::Owner,
        };
        let pending = Pending::with_access(path, existing, access)?;
        self.write(&pending, path, file_type, cancel)?;
        cancel.check()?;
        let opened = table::open(pending.path(), delimiter(file_type.format))?;
        let read = self.read_back(opened.with_cancel(cancel.run_flag()), file_type)?;
        cancel.check()?;
        self.audit(&read)?;
        cancel.check()?;
        if let Some(made) = self.codebook.clone() {
            let made = codebook::of_file(made, path, file_type, request);
            let files = codebook::pending(&made, page, path, existing)?;
            files.into_iter().try_for_each(Pending::publish)?;
        }
        pending.publish().map_err(incomplete)
    }

    fn write(
        &self,
        pending: &Pending,
        path: &Path,
        file_type: FileType,
        cancel: &Cancel,
    ) -> Result<()> {
        let request = &self.run.request;
        // A plan is for programs: it has no guards.
        let is_text = is_text(file_type) && self.run.product == Product::Release;
        let text = is_text.then(|| TextCells::new(&self.schema, request)).transpose()?;
        let schema: &SchemaRef = text.as_ref().map_or(&self.schema, TextCells::schema);
        table::write(pending.file()?, path, file_type, schema, self.batches.len(), |at| {
            cancel.check()?;
            let batch = &self.batches[at];
            text.as_ref().map_or_else(|| Ok(batch.clone()), |text| text.batch(batch))
        })
    }

    /// Reads the file and compares it with the batches.
    fn read_back(&self, opened: Source, file_type: FileType) -> Result<Table> {
        let request = &self.run.request;
        let treatments = match self.run.product {
            Product::Release => {
                audit::treatments(opened.names(), request, AuditView::ReleaseAgainstSource)
            }
            Product::Plan => vec![Treatment::Compare; opened.names().len()],
        };
        let types = opened.data_types().to_vec();
        let mut read = opened.read(&treatments)?;
        let is_text = is_text(file_type);
        if is_text && self.run.product == Product::Release && !request.output.raw_formulas {
            audit::unguard(&mut read);
        }
        if self.run.product == Product::Release {
            forms::plain_labels(&mut read, request);
        }
        let types = if is_text { None } else { Some(&types[..]) };
        let expected = table::in_memory(&self.schema, self.batches.len(), |at| {
            in_types(&self.batches[at], types)
        })?;
        match difference(&read, &expected, file_type) {
            None => Ok(read),
            Some(what) => Err(Error::not_verified(format!(
                "the written file is not the release in memory: {what}; it is not published"
            ))),
        }
    }

    /// Audits the rules where the release suffices: who is behind a row of a person without
    /// pseudonym, or of a ring, only the source shows. The cells are those that passed that audit.
    fn audit(&self, read: &Table) -> Result<()> {
        let request = &self.run.request;
        let is_alone = self.run.product == Product::Release
            && !request.non_homogeneous
            && (!request.has_persons() || request.output.pseudonyms);
        if !is_alone {
            return Ok(());
        }
        let reading = self.report.found.persons.as_ref().map(|persons| persons.reading);
        let request = Request { persons: reading.or(request.persons), ..request.clone() };
        let verdict = audit::audit(read, &request)?;
        if verdict.holds() { Ok(()) } else { Err(Error::not_verified(complaint(&verdict))) }
    }
}

fn is_text(file_type: FileType) -> bool {
    matches!(file_type.format, Format::Csv { .. })
}

/// The batch with the types that its columns have in a file: Parquet knows no times in seconds.
fn in_types(batch: &RecordBatch, types: Option<&[DataType]>) -> Result<RecordBatch> {
    let Some(types) = types else { return Ok(batch.clone()) };
    let changed = || Error::not_verified("a column of the written file has another type");
    let columns = batch.columns().iter().zip(types).map(|(column, to)| {
        if column.data_type() == to { Ok(column.clone()) } else { cast(column, to) }
    });
    let columns = columns.collect::<std::result::Result<Vec<_>, _>>().map_err(|_| changed())?;
    let schema = batch.schema();
    let names = schema.fields().iter().map(|field| field.name().clone());
    RecordBatch::try_from_iter_with_nullable(
        names.zip(columns).map(|(name, column)| (name, column, true)),
    )
    .map_err(|_| changed())
}

/// The first difference of two tables, without any cell; none where all cells are the same. In text
/// an empty cell is a missing one.
fn difference(read: &Table, expected: &Table, file_type: FileType) -> Option<String> {
    let is_text = is_text(file_type);
    let names = |table: &Table| -> Vec<String> {
        table.columns().iter().map(|column| column.name.clone()).collect()
    };
    if names(read) != names(expected) {
        return Some("its columns have other names".into());
    }
    if read.rows() != expected.rows() {
        return Some(format!("it has {} rows in place of {}", read.rows(), expected.rows()));
    }
    for (read, expected) in read.columns().iter().zip(expected.columns()) {
        let (Some(found), Some(wanted)) = (&read.coded, &expected.coded) else {
            return Some(format!("column `{}` was not read", read.name));
        };
        let text = |value: &Option<String>| value.clone().filter(|it| !(is_text && it.is_empty()));
        // Equal cells of a table have equal codes: texts are compared once for each value.
        let mut same: Vec<Option<Code>> = vec![None; wanted.values().len()];
        for (row, (code, of)) in found.codes().iter().zip(wanted.codes().iter()).enumerate() {
            let known = &mut same[of as usize];
            let is_same = match *known {
                Some(known) => known == code,
                None => {
                    *known = Some(code);
                    text(&found.values()[code as usize]) == text(&wanted.values()[of as usize])
                }
            };
            if !is_same {
                return Some(format!("column `{}` differs in row {}", read.name, row + 1));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        let opened = table::open_text(text.into(), Path::new("release.csv")).unwrap();
        let treatments = vec![Treatment::Compare; opened.names().len()];
        opened.read(&treatments).unwrap()
    }

    #[test]
    fn any_other_cell_name_or_number_of_rows_is_a_difference_without_the_cell() {
        let csv = table::file_type(Path::new("release.csv")).unwrap();
        let written = "age,ill\n30,canary\n30,\n40,flu\n30,canary\n";
        assert_eq!(difference(&table(written), &table(written), csv), None);
        for other in [
            "age,ill\n30,canary\n30,\n40,flu\n30,flu\n",
            "age,ill\n30,canary\n30,flu\n40,flu\n30,canary\n",
            "age,ill\n30,\n30,canary\n40,flu\n30,canary\n",
            "age,ill\n30,canary\n30,\n40,flu\n",
            "age,ills\n30,canary\n30,\n40,flu\n30,canary\n",
            "ill,age\n30,canary\n30,\n40,flu\n30,canary\n",
        ] {
            for (read, expected) in [(written, other), (other, written)] {
                let said = difference(&table(read), &table(expected), csv).expect(other);
                assert!(!said.contains("canary") && !said.contains("flu"), "{said}");
            }
        }
    }
}
