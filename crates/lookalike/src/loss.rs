//! What a release lost, by the measures of the field.
//!
//! Certainty penalty and its weights: J. Xu et al., Utility-Based Anonymization Using Local Recoding, KDD 2006. Global certainty
//! penalty: as used by X. He et al., PAKDD 2012. Discernibility and its hierarchical form: T. Li, N. Li, DKE 2008. Distortion
//! ratio: R. Wong et al., (alpha,k)-Anonymity, KDD 2006. A class with one value loses nothing on that attribute; the papers
//! leave that case open.

use serde::Serialize;

use crate::attribute::Attribute;
use crate::partition;
use crate::problem::Problem;
use crate::recode::Recoding;

/// How much a release lost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// Certainty penalty: over rows and attributes, the weighted share of the domain that is shown instead of the value.
    pub ncp: f64,
    /// `ncp` over its greatest value, between 0 and 1.
    pub gcp: f64,
    /// The attributes' shares of `ncp`, suppressed rows included.
    pub by_attribute: Vec<f64>,
    /// Discernibility: the sum of squared class sizes; a suppressed row costs as many as the table has rows.
    pub c_dm: u64,
    /// Rows for each class, over k; 1 is ideal.
    pub c_avg: f64,
    /// Hierarchical discernibility, the mean over rows, between 0 and 1.
    pub hdm: f64,
    /// Levels risen in the taxonomies, over those of a release that shows nothing.
    pub distortion: f64,
}

/// Measures a release.
pub fn loss(problem: &Problem, recoding: &Recoding) -> Loss {
    let attributes = problem.attributes();
    let rows = problem.row_count();
    let suppressed = partition::rows(recoding.suppressed());
    let mut by_attribute: Vec<f64> = attributes.iter().map(|attribute| attribute.weight * real(suppressed)).collect();
    let mut c_dm = suppressed * rows;
    for (at, class) in recoding.classes().iter().enumerate() {
        let size = partition::rows(class);
        c_dm += size * size;
        for ((attribute, range), lost) in attributes.iter().zip(recoding.shown(at)).zip(&mut by_attribute) {
            *lost += real(size) * attribute.weight * attribute.loss(*range);
        }
    }
    let ncp: f64 = by_attribute.iter().sum();
    let weights: f64 = attributes.iter().map(|attribute| attribute.weight).sum();
    Loss {
        ncp,
        gcp: if weights > 0.0 { ncp / (real(rows) * weights) } else { 0.0 },
        by_attribute,
        c_dm,
        c_avg: real(rows) / (real(recoding.classes().len() as u64) * real(problem.k())),
        hdm: hdm(problem, recoding),
        distortion: distortion(problem, recoding),
    }
}

/// For each row and attribute `(N_e - N_v) / (N - N_v)`: N_v rows have its value, N_e a value in the range it shows.
fn hdm(problem: &Problem, recoding: &Recoding) -> f64 {
    let rows = problem.row_count();
    let suppressed = real(partition::rows(recoding.suppressed()));
    let width = real(problem.attributes().len() as u64);
    let mut sum = suppressed * width;
    for (at, attribute) in problem.attributes().iter().enumerate() {
        let below = rows_below(problem, at, attribute);
        let with = |lo: u32, hi: u32| below[hi as usize + 1] - below[lo as usize];
        for (class, pieces) in recoding.classes().iter().enumerate() {
            let range = recoding.shown(class)[at];
            let block = with(range.lo, range.hi);
            for piece in pieces {
                let code = problem.code(at, piece.tuple);
                let own = with(code, code);
                if own < rows {
                    sum += f64::from(piece.count) * real(block - own) / real(rows - own);
                }
            }
        }
    }
    sum / (real(rows) * width)
}

/// How many rows have a code below each code, and all of them last.
fn rows_below(problem: &Problem, at: usize, attribute: &Attribute) -> Vec<u64> {
    let mut below = vec![0; attribute.codes() + 1];
    for tuple in (0u32..).take(problem.tuples()) {
        below[problem.code(at, tuple) as usize + 1] += u64::from(problem.count(tuple));
    }
    for code in 1..below.len() {
        below[code] += below[code - 1];
    }
    below
}

fn distortion(problem: &Problem, recoding: &Recoding) -> f64 {
    let (mut risen, mut most) = (0.0, 0.0);
    for (at, attribute) in problem.attributes().iter().enumerate() {
        for (class, pieces) in recoding.classes().iter().enumerate() {
            let range = recoding.shown(class)[at];
            for piece in pieces {
                let (up, top) = attribute.risen(problem.code(at, piece.tuple), range);
                risen += f64::from(piece.count) * f64::from(up);
                most += f64::from(piece.count) * f64::from(top);
            }
        }
        for piece in recoding.suppressed() {
            let (_, top) = attribute.risen(problem.code(at, piece.tuple), crate::code::CodeRange::one(0));
            risen += f64::from(piece.count) * f64::from(top);
            most += f64::from(piece.count) * f64::from(top);
        }
    }
    if most > 0.0 { risen / most } else { 0.0 }
}

#[allow(clippy::cast_precision_loss, reason = "counts of rows, below 2^53")]
fn real(count: u64) -> f64 {
    count as f64
}
