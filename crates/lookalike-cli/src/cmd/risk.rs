//! The lines of `check` on risk.

use std::path::Path;

use lookalike::evaluate::risk::{
    AttackerRisk, PopulationMatch, RiskMeasures, SampleRisk, SampledBy, SpecialUniques,
};
use lookalike_report::words::{
    COLUMN_HEADS, about, column_lead, column_rows, individuals as unit, ratio,
};

use crate::show::{self, count, decimal, percent};

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

fn columns(found: &RiskMeasures, special: &SpecialUniques) -> String {
    format!(
        "\ncolumns that make {} unique\n  {}\n{}",
        unit(found.counted),
        column_lead(found, special),
        show::indent(&show::table(&COLUMN_HEADS, &column_rows(found, special)))
    )
}
