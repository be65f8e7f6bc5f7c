//! `lookalike._lookalike`: the native half of the Python package. Requests and results cross as
//! JSON, tables as Arrow C streams or paths; `python/lookalike` makes Python of it, and its stub
//! `_lookalike.pyi` documents every function.
//!
//! | file | concern |
//! |---|---|
//! | `work` | threads of its own for every call, signals, events, a way to end it |
//! | `tables` | what comes in, and a release as it goes out |
//! | `cells` | parts of a table under the domain of the whole |
//! | `options` | the options of a call |
//! | `errors`, `hints` | errors as the exceptions of `lookalike._errors`, in the words of Python |

mod cells;
mod errors;
mod functions;
mod hints;
mod options;
mod tables;
mod work;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _lookalike(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<tables::Release>()?;
    functions::add(module)
}
