//! `lookalike hierarchy`: makes, checks and prints hierarchies.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use lookalike::domain::attribute::Domain;
use lookalike::domain::hierarchy;
use lookalike::domain::taxonomy::Taxonomy;
use lookalike::request::{
    ColumnRequest, DateSpec, HierarchySpec, IntervalsSpec, Kind, PrefixSpec, Rest, Role,
};
use lookalike::run::{headless, refuse_overlap};
use lookalike::table::{Access, Existing, Table, Treatment};
use lookalike::{Problem, Request, Result, table};

use crate::USAGE;
use crate::args::{
    GlobalArgs, HierarchyArgs, HierarchyCheckArgs, HierarchyCommand, HierarchyNew,
    HierarchyOutputArgs, ReadingArgs,
};
use crate::request::usage;
use crate::show::{self, counted};

/// Most children of a node that `show` prints.
const CHILDREN: usize = 20;

pub(crate) fn run(args: &HierarchyArgs, global: &GlobalArgs) -> Result<ExitCode> {
    match &args.command {
        HierarchyCommand::Check(args) => check(args),
        HierarchyCommand::Show { file } => {
            show::print(&show::clean(&hierarchy::outline(&tree(file)?, CHILDREN)))?;
            Ok(ExitCode::SUCCESS)
        }
        HierarchyCommand::New(new) => make(new, global.quiet),
    }
}

fn tree(file: &Path) -> Result<Taxonomy> {
    hierarchy::taxonomy(&hierarchy::read(file)?, "", &[], &[])
}

fn check(args: &HierarchyCheckArgs) -> Result<ExitCode> {
    if args.show_values && !std::io::stdout().is_terminal() {
        return Err(usage(
            "--show-values prints cells of the table, to a terminal only: run it without a pipe or \
             a file behind it, or leave the flag out",
        ));
    }
    let tree = tree(&args.file)?;
    let groups = (tree.nodes() - tree.leaves()) as u64;
    let mut text = format!(
        "{}: a tree of {}, {} and {}\n",
        args.file.display(),
        counted(tree.leaves() as u64, "value", "values"),
        counted(groups, "group", "groups"),
        counted(u64::from(tree.height()) + 1, "level", "levels"),
    );
    if let (Some(data), Some(column)) = (&args.data, &args.column) {
        let table = column_of(data, column, &args.reading)?;
        let missing = missing_values(&tree, &table, column);
        if !missing.is_empty() {
            text += &format!(
                "{} of column {column} {} not in the hierarchy: add a line for each\n",
                counted(missing.len() as u64, "value", "values"),
                if missing.len() == 1 { "is" } else { "are" }
            );
            if args.show_values {
                missing.iter().for_each(|value| text += &format!("  {}\n", show::clean(value)));
            } else {
                text += "list them with --show-values\n";
            }
            return show::verdict(show::print(&text), USAGE);
        }
        attribute(&table, column, HierarchySpec::File(args.file.clone()), None)?;
        let values = table.coded(column).values().len() as u64;
        text += &format!(
            "all {} of column {column} are in the hierarchy\n",
            counted(values, "value", "values")
        );
    }
    show::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Values of the column that the tree has neither as text nor as the same number.
fn missing_values(tree: &Taxonomy, table: &Table, column: &str) -> Vec<String> {
    let leaves = u32::try_from(tree.leaves()).expect("codes have 32 bits");
    let mut numbers: Vec<f64> =
        (0..leaves).filter_map(|leaf| tree.leaf_label(leaf).trim().parse().ok()).collect();
    numbers.sort_by(f64::total_cmp);
    let same_number = |text: &str| {
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        number.is_some_and(|number| {
            numbers.binary_search_by(|other| other.total_cmp(&(number + 0.0))).is_ok()
        })
    };
    let values = table.coded(column).values();
    let found = values
        .iter()
        .zip(tree.codes(values))
        .filter(|(_, code)| code.is_none())
        .filter_map(|(value, _)| value.as_ref());
    let mut missing: Vec<String> = found.filter(|text| !same_number(text)).cloned().collect();
    missing.sort_unstable();
    missing
}

fn make(new: &HierarchyNew, is_quiet: bool) -> Result<ExitCode> {
    let (of, how, kind) = match new {
        HierarchyNew::Intervals { widths, origin, bottom, top, of } => {
            let how = IntervalsSpec {
                intervals: widths.clone(),
                origin: *origin,
                bottom: *bottom,
                top: *top,
            };
            (of, HierarchySpec::Intervals(how), Kind::Numeric)
        }
        HierarchyNew::Prefix { keep, of } => {
            (of, HierarchySpec::Prefix(PrefixSpec { prefix: keep.clone() }), Kind::Categorical)
        }
        HierarchyNew::Date { units, of } => {
            (of, HierarchySpec::Date(DateSpec { date: units.clone() }), Kind::Date)
        }
    };
    write(of, how, kind, is_quiet)
}

fn write(
    of: &HierarchyOutputArgs,
    how: HierarchySpec,
    kind: Kind,
    is_quiet: bool,
) -> Result<ExitCode> {
    refuse_overlap(Some(&of.data), &[], &[("-o", &of.output)])?;
    let table = column_of(&of.data, &of.column, &of.reading)?;
    let tree = match attribute(&table, &of.column, how, Some(kind))? {
        Domain::Tree(tree) => tree,
        Domain::Ordered(ordered) => {
            ordered.intervals().expect("it was asked for").taxonomy().clone()
        }
    };
    let existing = Existing::overwrite_if(of.force);
    table::write_text(&of.output, existing, Access::Usual, &hierarchy::to_text(&tree))?;
    if !is_quiet && of.output != Path::new("-") {
        show::say(&format!(
            "wrote {}: {} in {}; print it with: lookalike hierarchy show {}",
            of.output.display(),
            counted(tree.leaves() as u64, "value", "values"),
            counted(u64::from(tree.height()) + 1, "level", "levels"),
            show::argument(&of.output)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// The table with this column alone.
fn column_of(data: &Path, column: &str, reading: &ReadingArgs) -> Result<Table> {
    let source = table::open(data, reading.options())?;
    let is_there = source.names().iter().any(|name| name == column);
    if !is_there && source.is_headless() {
        return Err(headless(&source));
    }
    if !is_there {
        return Err(usage(format!(
            "there is no column `{column}`: list the columns with `lookalike init`"
        )));
    }
    let wanted = |name: &String| if name == column { Treatment::Code } else { Treatment::Skip };
    let treatments: Vec<Treatment> = source.names().iter().map(wanted).collect();
    source.read(&treatments)
}

/// The domain of the column under this hierarchy.
fn attribute(
    table: &Table,
    column: &str,
    how: HierarchySpec,
    kind: Option<Kind>,
) -> Result<Domain> {
    let mut request = Request { k: Some(1), rest: Some(Rest::Drop), ..Request::default() };
    let line = ColumnRequest { kind, hierarchy: Some(how), ..ColumnRequest::new(Role::Quasi) };
    request.columns.insert(column.to_string(), line);
    let roles = request.roles(&[column.to_string()])?;
    let problem = Problem::new(table, &roles, &request)?;
    Ok(problem.attributes()[0].domain.clone())
}
