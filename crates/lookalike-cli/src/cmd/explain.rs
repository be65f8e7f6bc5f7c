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
        "{} of the detail is lost at k = {} ({} {unit}).\nA quick search found this ({}); anonymize searches longer and loses less.\n\n",
        percent(found.loss),
        count(found.k),
        count(found.rows),
        found.algorithm
    );
    text += &table_of(found);
    text += &format!(
        "\nown loss         mean loss of the cells of this column: 0 % is exact, 100 % is *\n\
         share            its share of the loss of all columns\n\
         others now       mean loss of all other columns together\n\
         others dropped   the same, if this column is dropped from the release\n\
         others coarser   the same, if this column first gets coarser values (in brackets)\n\
         unique alone     {unit} that are unique on this column alone\n\
         unique others    {unit} that are unique on the other columns together;\n\
         \x20                on all columns together {} of the {unit} are unique\n\
         -                there is no coarser form, or the time was over\n\n",
        percent(found.unique)
    );
    text += &format!(
        "Half of the loss is in {} {unit} ({} of all).\n",
        count(found.costly.rows),
        percent(found.costly.share)
    );
    let helps = found.helps();
    if helps.is_empty() {
        text += "None of these changes alone makes the loss smaller.\n";
    } else {
        text += "Changes that make the loss smaller, the greatest gain first:\n";
    }
    // A smaller k and suppression are named whatever their place.
    let named = |(place, help): &(usize, &Help)| *place < SENTENCES || help.is_of_all();
    for (number, (_, help)) in (1..).zip(helps.iter().enumerate().filter(named)) {
        text += &format!("{number}. {}\n", show::clean(&help.sentence()));
    }
    if !found.is_complete {
        text += "The time was over before every change was tried: allow more, --time 60s.\n";
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
        ">own loss",
        ">share",
        ">others now",
        ">others dropped",
        ">others coarser",
        "",
        ">unique alone",
        ">unique others",
    ];
    show::table(&heads, &rows)
}
