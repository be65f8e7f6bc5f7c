mod columns;
mod hand;
mod population;
mod published;

use super::{RiskMeasures, RiskParts, risks};
use crate::error::Result;
use crate::request::Request;
use crate::testing;

/// The measures of a table in text, all of whose columns are coded.
fn measured(text: &str, toml: &str, population: Option<&str>) -> Result<RiskMeasures> {
    let request = Request::parse(toml)?;
    let population = population.map(testing::table);
    risks(&testing::table(text), &request, population.as_ref(), RiskParts::All)
}

/// A request with these quasi-identifiers; `more` comes before it.
fn request(more: &str, quasi: &[&str]) -> String {
    let line = |name: &&str| format!("{name} = {{ role = 'quasi' }}\n");
    format!("{more}\n[columns]\n{}", quasi.iter().map(line).collect::<String>())
}

fn near(is: f64, should: f64, within: f64) {
    assert!((is - should).abs() <= within, "{is} is not {should}");
}
