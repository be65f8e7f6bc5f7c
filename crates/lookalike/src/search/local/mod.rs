//! Local recoding: rows are cut into classes, and each class has ranges of its own.
//!
//! One algorithm a file; they do not know each other but for `auto`, `cells` and `peel`, which are
//! made of others.

pub(crate) mod auto;
pub(crate) mod bottom_up;
pub(crate) mod cells;
pub(crate) mod cluster;
pub(crate) mod mondrian;
pub(crate) mod peel;
pub(crate) mod refine;
pub(crate) mod ring;
pub(crate) mod specialize;
pub(crate) mod top_down;
