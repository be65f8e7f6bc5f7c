//! What values mean: order, hierarchy, label, and the loss of a range. It has seen no rows.

pub mod attribute;
pub(crate) mod encode;
pub mod hierarchy;
pub(crate) mod penalty;
pub mod scheme;
pub mod taxonomy;
