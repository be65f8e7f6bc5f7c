//! The utility of a release, and the risk that is left in it.

mod dependence;
pub mod disclosure;
mod free_text;
pub mod loss;
pub(crate) mod missing_texts;
mod person_of_row;
pub mod profile;
pub mod purpose;
pub mod query;
pub mod risk;
pub mod sampling_weight;
pub mod suggested_hierarchy;
pub mod uniqueness;
