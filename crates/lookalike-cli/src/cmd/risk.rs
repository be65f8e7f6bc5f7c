//! Measures of risk for `check` and `report`: what they are measured on, and their lines.

use std::path::Path;

use lookalike::evaluate::risk::{
    AttackerRisk, ColumnUniqueness, Individuals, PopulationMatch, RiskMeasures, SampleRisk,
    SampledBy, SpecialUniques, population_treatments,
};
use lookalike::request::Role;
use lookalike::table::{self, Table, Treatment};
use lookalike::{Request, Result};

use crate::cmd::anonymize::ratio;
use crate::show::{self, count, decimal, percent};

/// The table of the population, if the request names one.
pub(crate) fn population(request: &Request, quasi: &[String]) -> Result<Option<Table>> {
    let Some(path) = &request.risk.population else { return Ok(None) };
    let source = table::open(path, request.input.delimiter)?;
    let treatments = population_treatments(source.names(), quasi, request)
        .map_err(|error| error.at_file(path))?;
    let table = source.read(&treatments)?;
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

/// The unit of the numbers.
pub(crate) fn unit(counted: Individuals) -> &'static str {
    match counted {
        Individuals::Rows => "rows",
        Individuals::Persons => "persons",
    }
}

/// An estimated number of persons: whole, or with a decimal where it is small.
pub(crate) fn about(number: f64) -> String {
    if number < 10.0 {
        return decimal((number * 10.0).round() / 10.0);
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded, at least 10, and fewer than there are people"
    )]
    count(number.round() as u64)
}

/// The lines of `check`.
pub(crate) fn text(found: &RiskMeasures, population: Option<&Path>) -> String {
    let mut text = String::new();
    if found.sample.is_some() || found.population.is_some() || found.population_skipped {
        text += &attackers(found);
    }
    if let Some(sample) = &found.sample {
        text += "\n";
        text += &show::indent(&sample_lines(found, sample));
    }
    if let (Some(matched), Some(path)) = (&found.population, population) {
        text += "\n";
        text += &show::indent(&population_lines(found, matched, path));
    }
    if found.population_skipped {
        text += "\n  the population table was not compared: that would take too long\n";
    }
    if let Some(special) = found.special_uniques.as_ref().filter(|special| special.uniques > 0) {
        text += &columns(found, special);
    }
    text
}

fn attackers(found: &RiskMeasures) -> String {
    let mut rows = vec![line("prosecutor", "the person is in the table", &found.prosecutor, "")];
    if let Some(sample) = &found.sample {
        let what = "the person is in the population";
        rows.push(line("journalist", what, &sample.journalist, "estimated"));
        rows.push(marketer("matches everybody", sample.marketer, "estimated"));
    }
    if let Some(matched) = &found.population {
        let what = "the person is in the population";
        rows.push(line("journalist", what, &matched.journalist, "population table"));
        rows.push(marketer("matches everybody", matched.marketer, "population table"));
    }
    let high = format!(">above {}", percent(found.threshold));
    let heads = ["attacker", "knows or does", ">highest", ">average", high.as_str(), "by"];
    format!("\nrisk for three attackers\n{}", show::indent(&show::table(&heads, &rows)))
}

fn line(who: &str, what: &str, risk: &AttackerRisk, by: &str) -> Vec<String> {
    let [highest, average, above] = [risk.highest, risk.average, risk.above].map(percent);
    vec![who.to_string(), what.to_string(), highest, average, above, by.to_string()]
}

fn marketer(what: &str, share: f64, by: &str) -> Vec<String> {
    let none = "–".to_string();
    let share = percent(share);
    vec!["marketer".to_string(), what.to_string(), none.clone(), share, none, by.to_string()]
}

fn sample_lines(found: &RiskMeasures, sample: &SampleRisk) -> String {
    let by = match sample.from {
        SampledBy::Weights => "by the sampling weights",
        SampledBy::Fraction => "by the sampling fraction",
    };
    let unit = unit(found.counted);
    let mut text = format!(
        "{by} ({})\n  the population has about {} persons\n  about {} of the {} {unit} would be \
         matched rightly\n",
        percent(sample.fraction),
        about(sample.persons),
        about(sample.expected),
        count(found.individuals),
    );
    let each = |name: &str, number: Option<f64>| {
        format!("{name} {}", number.map_or("no estimate".to_string(), about))
    };
    let uniques = &sample.uniques;
    let models = [
        each("Pitman", uniques.pitman),
        each("Zayatz", uniques.zayatz),
        each("slide negative binomial", uniques.snb),
    ]
    .join(", ");
    text += &match (uniques.chosen, uniques.share, sample.unique_individuals) {
        (Some(number), Some(share), Some(here)) => format!(
            "  about {} persons ({}) are unique in the population, {} of the {unit}\n",
            about(number),
            percent(share),
            about(here)
        ),
        _ => "  no model has an estimate of persons who are unique in the population\n".to_string(),
    };
    let model = uniques.model.map_or(String::new(), |model| format!("by {}: ", model.name()));
    text += &format!("    {model}{models}\n");
    if sample.unique_individuals.is_some_and(|unique| unique > sample.expected) {
        text += "  these would be matched rightly too: journalist and marketer are estimated too \
                 low here\n";
    }
    if let Some(dis) = found.special_uniques.as_ref().and_then(|special| special.dis) {
        text += &format!(
            "  a unique match is right with a chance of {} (DIS), at most {} (DIS-SUDA)\n",
            percent(dis.file),
            percent(dis.highest)
        );
    }
    text
}

fn population_lines(found: &RiskMeasures, matched: &PopulationMatch, path: &Path) -> String {
    let of_all =
        |number: u64| format!("{} ({})", count(number), percent(ratio(number, found.individuals)));
    let unit = unit(found.counted);
    let mut text = format!(
        "by the population table {}\n  the population has {} persons\n  about {} of the {} {unit} \
         would be matched rightly\n  {} {unit} have values of fewer than {} persons, {} of one person \
         alone; the fewest are {} (k-map)\n",
        show::path(path),
        count(matched.persons),
        about(matched.expected),
        count(found.individuals),
        of_all(matched.below),
        decimal((1.0 / found.threshold).round()),
        of_all(matched.uniques),
        count(matched.k_map),
    );
    if matched.absent > 0 {
        text += &format!(
            "  {} {unit} have values that nobody in it has: they count as all that there are\n",
            of_all(matched.absent)
        );
    }
    if matched.too_few > matched.absent {
        text += &format!(
            "  {} {unit} are in classes with more of them than persons in it: it is not the whole \
             population\n",
            of_all(matched.too_few)
        );
    }
    text
}

/// The columns that make people unique, those that add most first.
pub(crate) fn column_rows(found: &RiskMeasures, special: &SpecialUniques) -> Vec<Vec<String>> {
    let of_all =
        |number: u64| format!("{} ({})", count(number), percent(ratio(number, found.individuals)));
    let mut columns: Vec<_> = special.columns.iter().collect();
    columns.sort_by(|a, b| a.without.cmp(&b.without).then(b.score_share.total_cmp(&a.score_share)));
    let row = |column: &&ColumnUniqueness| {
        vec![
            column.column.clone(),
            percent(column.score_share),
            of_all(column.alone),
            column.without.map_or("not counted".to_string(), of_all),
        ]
    };
    columns.iter().map(row).collect()
}

/// The heads of [`column_rows`].
pub(crate) const COLUMN_HEADS: [&str; 4] =
    ["column", ">part in the score", ">unique on it alone", ">unique without it"];

/// What the rows of columns are about, in one sentence.
pub(crate) fn column_lead(found: &RiskMeasures, special: &SpecialUniques) -> String {
    let sets = match special.largest {
        1 => "one column".to_string(),
        largest => format!("up to {largest} columns"),
    };
    let limited = if special.is_limited { " (more would take too long here)" } else { "" };
    format!(
        "{} {} are unique on all columns, {} of them on {sets} already{limited}",
        count(special.uniques),
        unit(found.counted),
        count(special.special),
    )
}

fn columns(found: &RiskMeasures, special: &SpecialUniques) -> String {
    format!(
        "\ncolumns that make {} unique\n  {}\n{}",
        unit(found.counted),
        column_lead(found, special),
        show::indent(&show::table(&COLUMN_HEADS, &column_rows(found, special)))
    )
}
