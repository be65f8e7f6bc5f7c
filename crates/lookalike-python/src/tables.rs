//! What comes in: a path or an Arrow stream. What goes out: a release in the buffers that were
//! audited.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatchIterator;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::Int32Type;
use arrow_pyarrow::FromPyArrow;
use arrow_schema::DataType;
use arrow_schema::ffi::FFI_ArrowSchema;
use lookalike::run::{Input, ReleasedTable};
use lookalike::table::{self, Existing};
use lookalike::{Error, Result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde_json::{Value, json};

use crate::options::Options;
use crate::{errors, hints, work};

/// A table of the caller.
pub(crate) enum TableInput {
    Path(PathBuf),
    Stream(RecordBatchStreamReader),
}

impl TableInput {
    /// A path, or anything with `__arrow_c_stream__`.
    pub(crate) fn new(table: &Bound<'_, PyAny>) -> PyResult<TableInput> {
        match table.extract::<String>() {
            Ok(path) => Ok(TableInput::Path(path.into())),
            Err(_) => RecordBatchStreamReader::from_pyarrow_bound(table)
                .map(TableInput::Stream)
                .map_err(|error| no_arrow_type(table.py(), error)),
        }
    }

    pub(crate) fn input(self) -> Result<Input> {
        match self {
            TableInput::Path(path) => Ok(path.into()),
            TableInput::Stream(reader) => Ok(table::from_batches(reader)?.into()),
        }
    }

    /// The name of the table on a page.
    pub(crate) fn name(&self) -> String {
        match self {
            TableInput::Path(path) => path.display().to_string(),
            TableInput::Stream(_) => "(in memory)".into(),
        }
    }

    /// The path, if it is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            TableInput::Path(path) => Some(path),
            TableInput::Stream(_) => None,
        }
    }
}

/// The exception for a stream whose types Arrow does not know; what its producer raised stays as it
/// is.
fn no_arrow_type(py: Python<'_>, error: PyErr) -> PyErr {
    // arrow-pyarrow has no type of its own for what it cannot read.
    if !error.value(py).to_string().starts_with("C Data interface error") {
        return error;
    }
    let reason =
        "a column of the table has a type that Arrow does not know: convert it, or drop it";
    let raised = errors::exception(py, &Error::data("no-arrow-type", reason));
    raised.set_cause(py, Some(error));
    raised
}

/// A release that passed the audit, in the buffers that were audited.
#[pyclass(frozen, module = "lookalike._lookalike")]
pub(crate) struct Release {
    released: Arc<ReleasedTable>,
}

impl Release {
    pub(crate) fn new(released: ReleasedTable) -> Release {
        Release { released: Arc::new(released) }
    }
}

#[pymethods]
impl Release {
    /// The numbers of the run, as the command's `--json`.
    #[getter]
    fn numbers(&self) -> String {
        let report = &self.released.report;
        let mut object = json!(report);
        let warnings: Vec<String> = report.found.warnings.iter().map(hints::warning).collect();
        object["warnings"] = json!(warnings);
        object.to_string()
    }

    /// The text of the recoding file, where one was asked for.
    #[getter]
    fn recoding(&self) -> Option<&str> {
        self.released.recoding.as_deref()
    }

    /// The text of the proof file, where one was asked for.
    #[getter]
    fn proof(&self) -> Option<&str> {
        self.released.proof.as_deref()
    }

    /// The codebook as JSON, where one was asked for.
    #[getter]
    fn codebook(&self) -> Option<String> {
        self.released.codebook.as_ref().map(lookalike::release::codebook::Codebook::json)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol leaves it to the producer: the types of the release are those it was
        // audited with.
        let _ = requested_schema;
        let batches = self.released.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, self.released.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.released.schema.as_ref())
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Written, synced, read back, audited, renamed.
    fn write(&self, py: Python<'_>, path: PathBuf, options: &str) -> PyResult<()> {
        let options = errors::raise(py, Options::parse(options))?;
        let released = Arc::clone(&self.released);
        let existing = Existing::overwrite_if(options.force);
        work::work(py, &options, None, move |worker| {
            released.to_file(&path, existing, &worker.cancel)
        })
    }

    /// The labels of each column of categories, in their order, as JSON.
    #[getter]
    fn labels(&self) -> String {
        let schema = &self.released.schema;
        let labels = schema.fields().iter().enumerate().filter_map(|(at, field)| {
            let DataType::Dictionary(..) = field.data_type() else { return None };
            let batch = self.released.batches.first()?;
            let dictionary = batch.column(at).as_dictionary_opt::<Int32Type>()?;
            let labels: Vec<Option<&str>> =
                dictionary.values().as_string_opt::<i32>()?.iter().collect();
            Some((field.name().clone(), json!(labels)))
        });
        Value::Object(labels.collect()).to_string()
    }
}
