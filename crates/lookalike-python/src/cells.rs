//! Cells: a table whose tuples do not fit one machine, planned part by part.

use lookalike::domain::TableDomain;
use lookalike::run::{self, CellSize};
use lookalike::search::cuts::Cuts;
use lookalike::{Error, Result};
use pyo3::prelude::*;

use crate::errors::raise;
use crate::functions::asked;
use crate::tables::TableInput;
use crate::work::work;

#[pyfunction]
pub(crate) fn domain(
    py: Python<'_>,
    columns: Vec<Bound<'_, PyAny>>,
    request: &str,
    options: &str,
) -> PyResult<String> {
    let (request, options) = raise(py, asked(request, options))?;
    let columns = columns.into_iter().map(|column| TableInput::new(&column));
    let columns = columns.collect::<PyResult<Vec<_>>>()?;
    work(py, &options, None, move |_| {
        let open = |column: TableInput| column.input()?.open(&request.input);
        let columns = columns.into_iter().map(open).collect::<Result<_>>()?;
        Ok(run::domain_of_columns(columns, &request)?.to_json())
    })
}

#[pyfunction]
pub(crate) fn cuts(
    py: Python<'_>,
    sample: &Bound<'_, PyAny>,
    request: &str,
    domain: &str,
    options: &str,
) -> PyResult<String> {
    let (request, options) = raise(py, asked(request, options))?;
    let domain = raise(py, TableDomain::from_json(domain))?;
    let size = raise(py, cell_size(options.tuples, options.whole))?;
    let input = TableInput::new(sample)?;
    work(py, &options, None, move |_| {
        let source = input.input()?.open(&request.input)?;
        Ok(run::cuts(source, &request, &domain, size)?.to_json())
    })
}

#[pyfunction]
pub(crate) fn merge_cells(
    py: Python<'_>,
    cuts: &str,
    counts: &Bound<'_, PyAny>,
    request: &str,
    domain: &str,
    options: &str,
) -> PyResult<String> {
    let (request, options) = raise(py, asked(request, options))?;
    let domain = raise(py, TableDomain::from_json(domain))?;
    let cuts = raise(py, Cuts::from_json(cuts))?;
    let input = TableInput::new(counts)?;
    work(py, &options, None, move |_| {
        let source = input.input()?.open(&request.input)?;
        Ok(run::merge_cells(cuts, source, &request, &domain)?.to_json())
    })
}

fn cell_size(tuples: Option<u64>, whole: Option<u64>) -> Result<CellSize> {
    match (tuples, whole) {
        (Some(tuples @ 1..), Some(whole @ 1..)) => Ok(CellSize { tuples, whole }),
        _ => {
            let reason = "cells need the most tuples of a cell and the tuples of the whole table, \
                          whole numbers from 1";
            Err(Error::request("bad-option", reason))
        }
    }
}
