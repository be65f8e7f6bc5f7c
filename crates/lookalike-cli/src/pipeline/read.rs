//! Read: the columns that the request needs, with their roles.

use std::path::Path;
use std::time::SystemTime;

use lookalike::Result;
use lookalike::evaluate::profile::person_columns;
use lookalike::problem::treatments;
use lookalike::release::{self, CellFormat};
use lookalike::request::Roles;
use lookalike::table::{self, FileType, Table};

use super::ReleaseJob;
use super::write::cells;
use crate::{request, warn};

/// The table in memory.
#[derive(Debug)]
pub(super) struct ReadTable {
    pub(super) roles: Roles,
    pub(super) table: Table,
    pub(super) warnings: Vec<String>,
}

pub(super) fn read(job: &ReleaseJob, file_type: FileType) -> Result<ReadTable> {
    let request = job.request;
    let source = table::open(job.data, request.input.delimiter)?;
    let roles = request::roles(request, &source)?;
    request.rules(&roles)?;
    let treatments = treatments(source.names(), &roles);
    table::check_columns(file_type, &source, |name| {
        roles.sensitive.contains(name) || roles.keep.contains(name)
    })?;
    let persons = person_columns(source.names(), request);
    let (table, counted) = source.read_and_count(&treatments, &persons)?;
    if cells(file_type) == CellFormat::Text {
        release::check_text(&table, &roles)?;
    }
    let warnings = warn::of_request(request, &counted);
    Ok(ReadTable { roles, table, warnings })
}

/// Length and time of the last change of a file: they differ after somebody wrote to it.
pub(super) type Stamp = Option<(u64, Option<SystemTime>)>;

pub(super) fn stamp(path: &Path) -> Stamp {
    std::fs::metadata(path).ok().map(|about| (about.len(), about.modified().ok()))
}
