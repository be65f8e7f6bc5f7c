//! Errors of the library as Python's exceptions, made by `lookalike._errors.raised`.

use std::any::Any;
use std::error::Error as _;
use std::io;

use lookalike::{Error, ErrorKind, Result};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::hints;

/// A result of the library for Python.
pub(crate) fn raise<T>(py: Python<'_>, found: Result<T>) -> PyResult<T> {
    found.map_err(|error| exception(py, &error))
}

/// The exception for an error of the library.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    let object = json!({
        "kind": error.kind(),
        "code": error.code(),
        "place": error.place(),
        "reason": error.reason(),
        "hints": error.hints().iter().map(hint).collect::<Vec<_>>(),
        "message": hints::error(error),
        "os_error": source.and_then(io::Error::raw_os_error),
    });
    raised(py, &object, cause(error))
}

/// The exception for a panic: a bug of the library, so its words are for its makers.
pub(crate) fn panicked(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
    let reason = "this is a bug of lookalike, please report it; nothing was released";
    let object = json!({
        "kind": ErrorKind::NotVerified,
        "code": "bug",
        "place": {},
        "reason": reason,
        "hints": [],
        "message": reason,
    });
    raised(py, &object, Some(said.to_string()))
}

fn raised(py: Python<'_>, object: &Value, cause: Option<String>) -> PyErr {
    let made = py
        .import("lookalike._errors")
        .and_then(|module| module.getattr("raised"))
        .and_then(|raised| raised.call1((object.to_string(), cause)));
    made.map_or_else(|failed| failed, PyErr::from_value)
}

fn hint(hint: &lookalike::Hint) -> Value {
    let mut object = json!(hint);
    object["words"] = json!(hints::words(hint));
    object
}

/// The words of the stream's producer, if it was the producer that failed: they may quote a cell,
/// so they are the cause of the exception and not its message.
fn cause(error: &Error) -> Option<String> {
    let mut deepest = error.source()?.downcast_ref::<io::Error>()?.get_ref()?.source()?;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    Some(deepest.to_string())
}
