//! Which tuple of the counts each piece of a plan is of: by its original cells, or by its number.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::plan::{FIRST, LAST, PUBLISHED, Pieces, PlanFaults, SUPPRESSED, TUPLE};
use super::row_counts::RowCounts;
use super::source_check::{Passthrough, alike};
use super::source_match::by_passthrough;
use crate::codes::RowId;
use crate::error::{Error, Result};
use crate::request::{Request, Rest, Role, list};
use crate::table::Table;

/// For each piece the row of the counts that it is of; none where there is no such tuple. Notes
/// tuples that are there twice or not cut into pieces from 1 to their count.
pub(super) fn tuples(
    plan: &Table,
    counts: &Table,
    request: &Request,
    row_counts: &RowCounts<'_>,
    pieces: &Pieces,
    faults: &mut PlanFaults,
) -> Result<Vec<Option<RowId>>> {
    if let Some(numbers) = plan.column(TUPLE).and_then(|column| column.passthrough.as_ref()) {
        return numbered(numbers, counts, row_counts, pieces, faults);
    }
    let mut shared: Vec<Passthrough<'_>> = Vec::new();
    let mut lost = Vec::new();
    for original in counts.columns() {
        let name = &original.name;
        if request.count.as_ref() == Some(name) {
            continue;
        }
        if [FIRST, LAST, SUPPRESSED, TUPLE].contains(&name.as_str()) || name.starts_with(PUBLISHED)
        {
            let reason =
                format!("the table of counts has a column `{name}`, which a plan uses for itself");
            return Err(Error::request("name-taken", reason).about_column(name));
        }
        match plan.column(name) {
            // Tuples differ where their texts do, whatever means missing.
            Some(column) => shared.push(alike(column, original, &Request::default())?),
            None if is_published(name, request) => lost.push(name.clone()),
            None => {}
        }
    }
    if !lost.is_empty() {
        let reason = format!("the plan lacks columns of the table of counts: {}", list(&lost));
        return Err(Error::data("table-lacks-column", reason));
    }
    let classes = by_passthrough(&shared, (plan.rows(), counts.rows()));
    let members = classes.rows();
    let mut tuple = vec![None; plan.rows()];
    for class in 0..classes.sizes.len() {
        let all = members.of(class);
        let (tuples, of_plan) =
            all.split_at(all.partition_point(|&row| (row as usize) < counts.rows()));
        let mut ends: Vec<(u32, u32)> = Vec::with_capacity(of_plan.len());
        for &row in of_plan {
            let piece = row as usize - counts.rows();
            tuple[piece] = tuples.first().copied();
            ends.push((pieces.first[piece], pieces.last[piece]));
        }
        faults.reversed += ends.iter().filter(|(first, last)| first > last).count() as u64;
        let Some(&first) = tuples.first() else {
            faults.strange += of_plan.len() as u64;
            continue;
        };
        faults.doubled += u64::from(tuples.len() > 1);
        faults.gaps += u64::from(!is_whole(&mut ends, row_counts.of(first as usize)));
    }
    Ok(tuple)
}

/// True for an original column that a release shows in some form.
fn is_published(name: &str, request: &Request) -> bool {
    match request.column(name) {
        Some(line) => !matches!(line.role, Role::Identifier | Role::Person),
        None => request.rest == Some(Rest::Keep),
    }
}

/// True when the pieces are 1 to the count, without gap or overlap.
fn is_whole(ends: &mut [(u32, u32)], count: u32) -> bool {
    ends.sort_unstable();
    let mut next = Some(1u32);
    for &mut (first, last) in ends {
        if next != Some(first) || last < first {
            return false;
        }
        next = last.checked_add(1);
    }
    next == count.checked_add(1)
}

/// The tuples of pieces that name them by their rows in the table of counts, from 1.
fn numbered(
    numbers: &[ArrayRef],
    counts: &Table,
    row_counts: &RowCounts<'_>,
    pieces: &Pieces,
    faults: &mut PlanFaults,
) -> Result<Vec<Option<RowId>>> {
    let mut tuple = Vec::with_capacity(pieces.first.len());
    for chunk in numbers {
        tuple.extend(rows_named(chunk, counts.rows())?);
    }
    let mut order: Vec<usize> = (0..tuple.len()).filter(|&at| tuple[at].is_some()).collect();
    faults.strange += (tuple.len() - order.len()) as u64;
    order.sort_unstable_by_key(|&piece| tuple[piece]);
    let mut ends: Vec<(u32, u32)> = Vec::new();
    let mut next = 0;
    for row in 0..counts.rows() {
        ends.clear();
        let is_of_row = |at: usize| tuple[at].is_some_and(|tuple| tuple as usize == row);
        while let Some(&piece) = order.get(next).filter(|&&at| is_of_row(at)) {
            ends.push((pieces.first[piece], pieces.last[piece]));
            next += 1;
        }
        faults.reversed += ends.iter().filter(|(first, last)| first > last).count() as u64;
        faults.gaps += u64::from(!is_whole(&mut ends, row_counts.of(row)));
    }
    Ok(tuple)
}

/// The rows that these numbers name; none where there is no such row.
fn rows_named(numbers: &ArrayRef, rows: usize) -> Result<Vec<Option<RowId>>> {
    let row = |number: Option<i64>| {
        let row = usize::try_from(number?.checked_sub(1)?).ok().filter(|&row| row < rows)?;
        RowId::try_from(row).ok()
    };
    match numbers.data_type() {
        DataType::Int64 => Ok(numbers.as_primitive::<Int64Type>().iter().map(row).collect()),
        DataType::Utf8 => {
            let texts = numbers.as_string::<i32>().iter();
            Ok(texts.map(|text| row(text?.parse().ok())).collect())
        }
        _ => {
            let reason = format!("column `{TUPLE}` of the plan has no whole numbers");
            Err(Error::data("not-a-plan", reason).about_column(TUPLE))
        }
    }
}
