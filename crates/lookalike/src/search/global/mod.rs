//! Global recoding: a value is published the same way wherever it stands.

mod cost;
pub(crate) mod incognito;
pub(crate) mod optimal;
pub(crate) mod space;
mod table;

pub use cost::Cost;
pub use optimal::{Branching, Optimum, Techniques};
pub(crate) use space::{MOST_IN_INTERVALS, Parts, Space, Value};
pub(crate) use table::{ClassTable, Classes, Scratch, sorted};
