//! What is known of the population that a table is a sample of. No release depends on it: it is for
//! measures of risk.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Request, Share};
use crate::error::{Error, Result};

/// The population of a sample. The weights of its rows are a column of the table, with the role
/// [`Weight`](super::Role::Weight).
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RiskRequest {
    /// A table of the population with the quasi-identifiers under the same names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub population: Option<PathBuf>,
    /// The share of the population that is in the table, above 0 and at most 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling_fraction: Option<Share>,
}

impl RiskRequest {
    pub(super) fn is_empty(&self) -> bool {
        *self == RiskRequest::default()
    }
}

impl Request {
    /// The share of the population that is in the table; none when absent.
    ///
    /// # Errors
    /// When it is 0 or above 1.
    pub fn sampling_fraction(&self) -> Result<Option<f64>> {
        match self.risk.sampling_fraction {
            Some(Share(share)) if share.num() == 0 || share.num() > share.den() => {
                Err(Error::request(
                    "bad-sampling-fraction",
                    "sampling_fraction is the share of the population that is in the table, above \
                     0 and at most 100%: for one in twenty write 5% or 0.05",
                ))
            }
            share => Ok(share.map(|Share(share)| share.to_f64())),
        }
    }
}
