//! Flags of `check` and `report` about the population of a sample.

use std::path::PathBuf;

use clap::Args;
use lookalike::Request;
use lookalike::request::Share;
use lookalike::request::ratio::Ratio;

/// The population, for measures of risk.
#[derive(Debug, Args)]
#[command(next_help_heading = "Population (measures of risk; see docs/risk.md)")]
pub(crate) struct RiskArgs {
    /// Table of the population with the quasi-identifiers under the same names: how many persons
    /// have the values of each class
    #[arg(long, value_name = "FILE")]
    pub(crate) population: Option<PathBuf>,
    /// Share of the population that is in the table, 5% or 0.05: estimates its uniques and the risk
    #[arg(long, value_name = "SHARE")]
    pub(crate) sampling_fraction: Option<Ratio>,
}

impl RiskArgs {
    /// Overrides the configuration by these flags.
    pub(crate) fn apply_to(&self, request: &mut Request) {
        if self.population.is_some() {
            request.risk.population.clone_from(&self.population);
        }
        if let Some(fraction) = self.sampling_fraction {
            request.risk.sampling_fraction = Some(Share(fraction));
        }
    }
}
