//! The meaning of values: kind, order, hierarchy, label, and the loss of a range. It knows no rows.
//!
//! | file | content |
//! |---|---|
//! | `parse` | numbers, dates and times from text |
//! | `kind` | the kind of a column, or a guess |
//! | `encode` | texts to codes |
//! | [`attribute`] | published ranges of codes, and their loss |
//! | [`label`] | the text of a range, such as `[6-13]` |
//! | [`taxonomy`], [`hierarchy`] | trees of values, and where they come from |
//! | [`scheme`], `penalty` | partitions of a domain, losses of boxes |
//! | `coarsening` | rounded numbers, and numbers coded at the top and the bottom |
//! | [`coarser`] | the next coarser values of an attribute |
//! | `table_domain` | all of that for a table, as one value that can be stored |

pub mod attribute;
pub(crate) mod coarsening;
pub mod coarser;
pub(crate) mod encode;
pub mod hierarchy;
pub(crate) mod kind;
pub mod label;
pub(crate) mod parse;
pub(crate) mod penalty;
pub mod scheme;
mod table_domain;
pub mod taxonomy;

pub use table_domain::{QuasiDomain, SensitiveDomain, TableDomain, ValueCounts};
