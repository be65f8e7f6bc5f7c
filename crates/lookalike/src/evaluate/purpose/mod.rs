//! What a release is made for: some of its columns, whose values an analyst wants to predict from the
//! quasi-identifiers.
//!
//! [`weights`](fn@weights) are the weights of the quasi-identifiers that keep detail where it tells
//! something about the purpose. [`scores`] is how well a small model predicts it that was trained on
//! the release and is tested on rows of the source.
//!
//! # The values of a purpose
//! Its values, missing included; the nineteen most frequent ones and the others together where there
//! are more than twenty; of a number or date with more than ten values: above the median, or not.

mod information;
mod logistic;
mod score;
mod scores;
#[cfg(test)]
mod tests;
mod weights;

pub use score::Score;
pub use scores::{PurposeScore, SPLITS, fold_of_rows, scores};
pub use weights::{PurposeWeight, weights};
