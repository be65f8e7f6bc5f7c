//! `lookalike explain`: what costs the detail of a release, and what would help.

use std::process::ExitCode;

use lookalike::{Result, table};
use lookalike_report::explain::{Explanation, Help, explain};

use crate::args::ExplainArgs;
use crate::show::{self, count, percent};
use crate::{hints, interrupt, request};

/// Sentences about what would help, but for those about all columns.
const SENTENCES: usize = 3;

pub(crate) fn run(args: &ExplainArgs) -> Result<ExitCode> {
    let mut request = args.request.request()?;
    if let Some(time) = &args.time {
        request.limits.time = Some(time.clone());
    }
    let data = request::data(args.data.as_ref(), &request)?;
    let source = table::open(&data, &request.input)?;
    let found = explain(source, &request, interrupt::of_run())?;
    found.warnings.iter().for_each(|warning| show::warning(&hints::warning(warning)));
    let printed =
        if args.json { show::json(&found.json(hints::words)) } else { show::print(&text(&found)) };
    show::verdict(printed, 0)
}

fn text(found: &Explanation) -> String {
    let unit = found.unit();
    let mut text = format!(
        "{} of the detail is lost at k = {} ({} {unit}; a quick search by {}: auto loses less)\n\n",
        percent(found.loss),
        count(found.k),
        count(found.rows),
        found.algorithm
    );
    text += &table_of(found);
    text += &format!(
        "\nlost       mean loss of the column's own cells\n\
         part       its part of the whole loss\n\
         others     loss of all other columns\n\
         without    loss of these if the column is left out\n\
         coarser    loss of these if the column has coarser values\n\
         unique     {unit} that are unique on the column alone, and on all columns without it;\n\
         \x20          on all columns {} are\n\n",
        percent(found.unique)
    );
    text += &format!(
        "Half of the loss is in {} {unit} ({}).\n",
        count(found.costly.rows),
        percent(found.costly.share)
    );
    let helps = found.helps();
    if helps.is_empty() {
        text += "No single change of these helps.\n";
    } else {
        text += "What would help most:\n";
    }
    // A smaller k and suppression are named whatever their place.
    let named = |(place, help): &(usize, &Help)| *place < SENTENCES || help.is_of_all();
    for (number, (_, help)) in (1..).zip(helps.iter().enumerate().filter(named)) {
        text += &format!("{number}. {}\n", show::clean(&help.sentence()));
    }
    if !found.is_complete {
        text += "The time was over before all was tried: give more (--time 60s).\n";
    }
    text
}

fn table_of(found: &Explanation) -> String {
    let share = |share: Option<f64>| share.map_or("-".to_string(), percent);
    let rows: Vec<Vec<String>> = found
        .columns
        .iter()
        .map(|column| {
            let coarser = column.coarser.as_ref();
            vec![
                column.name.clone(),
                percent(column.loss),
                percent(column.part),
                percent(column.others),
                share(column.others_without),
                share(coarser.map(|coarser| coarser.others)),
                coarser.map_or(String::new(), |coarser| format!("({})", coarser.to)),
                percent(column.unique_alone),
                percent(column.unique_without),
            ]
        })
        .collect();
    let heads = [
        "column",
        ">lost",
        ">part",
        ">others",
        ">without",
        ">coarser",
        "",
        ">unique alone",
        ">unique without",
    ];
    show::table(&heads, &rows)
}
