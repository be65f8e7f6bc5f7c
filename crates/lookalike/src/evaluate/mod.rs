//! The utility of a release, and the risk that is left in it.

pub mod disclosure;
pub mod loss;
pub mod profile;
pub mod query;
