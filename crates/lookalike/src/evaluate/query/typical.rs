//! Typical rows of a release: rows that lose about as much as most do.
//!
//! Released rows are sorted, and `*` comes first: the first rows of a file are among those that lose
//! most. The rows of the middle third by loss are typical; of these some are taken, evenly spaced,
//! each from another class.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::columns::cell_loss;
use super::field::QueryField;
use super::released;
use crate::audit::{ReleasedCell, cells, surface};
use crate::codes::Codes;
use crate::domain::label::ANY;
use crate::error::Result;
use crate::problem::CountColumn;
use crate::request::Request;
use crate::table::Table;

/// What a row has lost, for the choice of typical rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLoss {
    /// The sum of its weighted penalties, which depend on the ranges of the source.
    Penalty,
    /// Counted in the release alone: 1 for a cell `*`, 1/2 for any other with more than one value.
    Cells,
}

/// The numbers of at most so many typical rows of a release, ascending; each of another class.
///
/// The tables are read as for [`answer`](super::answer).
///
/// # Errors
/// As [`columns`](super::columns()).
pub fn typical_rows(
    source: &Table,
    release: &Table,
    request: &Request,
    most: usize,
    loss: RowLoss,
) -> Result<Vec<usize>> {
    let mut lost = vec![0.0; release.rows()];
    let mut columns_of_cells = Vec::new();
    for columns in &surface(release, request)?.quasi {
        let field = QueryField::new(columns.name(), source, request)?;
        let weight = request.column(columns.name()).and_then(|line| line.weight).unwrap_or(1.0);
        let (of, written) = cells(columns, release)?;
        let extents = released(&field, columns, release)?.0;
        let losses: Vec<f64> = written
            .iter()
            .zip(&extents)
            .map(|(cell, extent)| match (loss, cell_loss(&field, *cell, extent)) {
                (RowLoss::Penalty, (penalty, _)) => weight * penalty,
                (RowLoss::Cells, (_, true)) => 0.0,
                (RowLoss::Cells, _) if matches!(cell, ReleasedCell::Label(Some(ANY))) => 1.0,
                (RowLoss::Cells, _) => 0.5,
            })
            .collect();
        of.iter().enumerate().for_each(|(row, cell)| lost[row] += losses[cell as usize]);
        columns_of_cells.push(of);
    }
    let mut rows: Vec<usize> = (0..release.rows()).collect();
    rows.sort_by(|&a, &b| lost[a].total_cmp(&lost[b]).then(a.cmp(&b)));
    let counts = CountColumn::new(release, request.count.as_ref())?;
    Ok(spread(middle(&rows, &counts), most, &columns_of_cells))
}

/// The middle third of the rows, each as often as its count says; all that have a part in it.
fn middle<'a>(rows: &'a [usize], counts: &CountColumn<'_>) -> &'a [usize] {
    let all: u64 = rows.iter().map(|&row| counts.of(row)).sum();
    let (begin, end) = (all / 3, all - all / 3);
    let (mut seen, mut from, mut to) = (0, rows.len(), 0);
    for (at, &row) in rows.iter().enumerate() {
        let before = seen;
        seen += counts.of(row);
        if seen > begin && before < end {
            (from, to) = (from.min(at), at + 1);
        }
    }
    &rows[from.min(to)..to]
}

/// Some of the rows, evenly spaced, each of another class. Where a class was taken already, the next
/// row that is not of one.
fn spread(middle: &[usize], most: usize, columns: &[Cow<'_, Codes>]) -> Vec<usize> {
    let class = |row: usize| columns.iter().map(|of| of.get(row)).collect::<Vec<u32>>();
    let (mut taken, mut seen) = (Vec::new(), BTreeSet::new());
    for number in 0..most {
        let from = number * middle.len() / most.max(1);
        let is_new = |row: &&usize| !seen.contains(&class(**row));
        // From this place on; where that ends, from the first on.
        let Some(&row) = middle[from..].iter().chain(middle).find(is_new) else { break };
        seen.insert(class(row));
        taken.push(row);
    }
    taken.sort_unstable();
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{AuditView, treatments};

    fn read(text: &str, request: &Request, view: AuditView) -> Table {
        let source = crate::table::open_text(text.into(), "t.csv".as_ref()).unwrap();
        let treatments = treatments(source.names(), request, view);
        source.read(&treatments).unwrap()
    }

    #[test]
    fn the_rows_are_of_the_middle_and_of_different_classes() {
        let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'").unwrap();
        let ages: String = (20..80).map(|age| format!("{age}\n")).collect();
        let source = read(&format!("age\n{ages}"), &request, AuditView::Source);
        // 20 rows lose everything, 20 lose a tenth or so, 20 nothing.
        let mut text = "age\n".to_string() + &"*\n".repeat(20);
        (0..10).for_each(|at| text += &format!("[{0}-{1}]\n", 30 + at, 36 + at).repeat(2));
        text += &"70\n".repeat(20);
        let release = read(&text, &request, AuditView::ReleaseAgainstSource);
        for loss in [RowLoss::Penalty, RowLoss::Cells] {
            let rows = typical_rows(&source, &release, &request, 3, loss).unwrap();
            assert!(rows.len() == 3 && rows.iter().all(|row| (20..40).contains(row)), "{rows:?}");
            let cells: BTreeSet<&str> =
                rows.iter().map(|row| text.lines().nth(row + 1).unwrap()).collect();
            assert_eq!(cells.len(), 3, "each of another class: {rows:?}");
        }
    }

    #[test]
    fn few_rows_and_few_classes_are_no_trouble() {
        let request = Request::parse("k = 1\ncolumns.age.role = 'quasi'").unwrap();
        for (text, found) in [("age\n5\n", vec![0]), ("age\n5\n5\n5\n", vec![1])] {
            let source = read(text, &request, AuditView::Source);
            let release = read(text, &request, AuditView::ReleaseAgainstSource);
            let rows = typical_rows(&source, &release, &request, 3, RowLoss::Penalty).unwrap();
            assert_eq!(rows, found, "{text:?}");
        }
    }
}
