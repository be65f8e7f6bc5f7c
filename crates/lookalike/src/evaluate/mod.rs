//! What a release is worth, and what risk is left in it.

pub mod disclosure;
pub mod loss;
pub mod profile;
pub mod query;
