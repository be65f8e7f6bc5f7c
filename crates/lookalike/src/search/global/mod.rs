//! Global recoding: a value is published the same way in every row.
//!
//! Two exact searches share the search space (`space.rs`), the class tables (`table.rs`) and the
//! objective (`cost.rs`): `optimal` over the schemes of the columns, `incognito` over the
//! levels of their hierarchies.

mod cost;
pub(crate) mod incognito;
pub(crate) mod optimal;
mod optimum;
pub(crate) mod space;
mod table;

pub use cost::Cost;
pub use optimal::{Branching, Techniques};
pub use optimum::Optimum;
pub(crate) use space::{MOST_ATOMS, PartitionCost, Parts, Space};
pub(crate) use table::{ClassBuffers, ClassTable, EntryClasses, sorted};
