//! What the measures of risk are measured on.

use lookalike::evaluate::risk::population_treatments;
use lookalike::request::Role;
use lookalike::run::settle_forms;
use lookalike::table::{self, Table, Treatment};
use lookalike::{Request, Result};

/// The table of the population, if the request names one.
pub(crate) fn population(request: &Request, quasi: &[String]) -> Result<Option<Table>> {
    let Some(path) = &request.risk.population else { return Ok(None) };
    let source = table::open(path, &request.input)?;
    let treatments = population_treatments(source.names(), quasi, request)
        .map_err(|error| error.at_file(path))?;
    let mut table = source.read(&treatments)?;
    settle_forms(&mut table, &mut request.clone())?;
    table.check_header().map_err(|error| error.at_file(path))?;
    Ok(Some(table))
}

/// Codes the sampling weight, which no audit needs.
pub(crate) fn code_weight(names: &[String], request: &Request, treatments: &mut [Treatment]) {
    let is_weight =
        |name: &String| request.column(name).is_some_and(|line| line.role == Role::Weight);
    for (_, treatment) in names.iter().zip(treatments).filter(|(name, _)| is_weight(name)) {
        *treatment = Treatment::Code;
    }
}
