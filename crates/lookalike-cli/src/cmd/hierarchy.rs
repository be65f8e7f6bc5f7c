//! `lookalike hierarchy`: makes, checks and prints hierarchies.

mod new;

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use lookalike::domain::attribute::Domain;
use lookalike::domain::hierarchy::{self, Differences};
use lookalike::domain::taxonomy::Taxonomy;
use lookalike::request::{
    BUILTINS, ColumnRequest, DateSpec, HierarchySpec, IntervalsSpec, Kind, PrefixSpec, Rest, Role,
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

/// Most labels without a row that `check` prints.
const UNUSED: usize = 20;

pub(crate) fn run(args: &HierarchyArgs, global: &GlobalArgs) -> Result<ExitCode> {
    match &args.command {
        HierarchyCommand::Check(args) => check(args),
        HierarchyCommand::Show { file } => {
            show::print(&show::clean(&hierarchy::outline(&tree(file)?, CHILDREN)))?;
            Ok(ExitCode::SUCCESS)
        }
        HierarchyCommand::List => {
            let row = |(name, about): &(&str, &str)| {
                vec![format!("builtin:{name}"), (*about).to_string()]
            };
            let rows: Vec<Vec<String>> = BUILTINS.iter().map(row).collect();
            show::print(&show::table(&["name", "a value and its groups"], &rows))?;
            Ok(ExitCode::SUCCESS)
        }
        HierarchyCommand::Suggest(of) => new::suggest(of, global.quiet),
        HierarchyCommand::New(new) => make(new, global.quiet),
    }
}

/// The ready-made hierarchy that a path names; none where it is a file.
fn ready_made(file: &Path) -> Option<&str> {
    file.to_str().filter(|text| text.starts_with("builtin:"))
}

fn tree(file: &Path) -> Result<Taxonomy> {
    match ready_made(file) {
        Some(name) => hierarchy::example(name),
        None => hierarchy::taxonomy(&hierarchy::read(file)?, "", &[], &[]),
    }
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
        if ready_made(&args.file).is_none() {
            let found = hierarchy::differences(&tree, table.coded(column).values());
            text += &differing(&found, column, args.show_values);
            if !found.missing.is_empty() {
                return show::verdict(show::print(&text), USAGE);
            }
        }
        let spec = HierarchySpec::from_text(&args.file.to_string_lossy()).map_err(usage)?;
        let spec = ready_made(&args.file).map_or(HierarchySpec::file(&args.file), |_| spec);
        attribute(&table, column, spec, None)?;
        let values = table.coded(column).values().len() as u64;
        text += &format!(
            "all {} of column {column} are in the hierarchy\n",
            counted(values, "value", "values")
        );
    }
    show::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What a file and a column do not have in common. Labels of the file may be named, cells only
/// where the user asked for them.
fn differing(found: &Differences, column: &str, shows_values: bool) -> String {
    let Differences { missing, unused, misspelt } = found;
    let are = |count: usize| if count == 1 { "is" } else { "are" };
    let mut text = String::new();
    if !unused.is_empty() {
        text += &format!(
            "{} of the file {} in no row of column {column}:\n",
            counted(unused.len() as u64, "value", "values"),
            are(unused.len())
        );
        unused.iter().take(UNUSED).for_each(|label| text += &format!("  {}\n", show::clean(label)));
        if unused.len() > UNUSED {
            text += &format!("  ... {} more\n", unused.len() - UNUSED);
        }
    }
    if missing.is_empty() {
        return text;
    }
    text += &format!(
        "{} of column {column} {} not in the hierarchy: add a line for each\n",
        counted(missing.len() as u64, "value", "values"),
        are(missing.len())
    );
    for &(label, value) in misspelt {
        let label = show::clean(&unused[label]);
        let value = if shows_values {
            format!("`{}`", show::clean(&missing[value]))
        } else {
            "a value of the column".to_string()
        };
        text += &format!("  probably misspelt: `{label}` of the file is nearly {value}\n");
    }
    if shows_values {
        missing.iter().for_each(|value| text += &format!("  {}\n", show::clean(value)));
    } else {
        text += "list them with --show-values\n";
    }
    text
}

fn make(new: &HierarchyNew, is_quiet: bool) -> Result<ExitCode> {
    let (of, how, kind) = match new {
        HierarchyNew::Groups { of } => return new::groups(of, is_quiet),
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

/// The columns that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    One,
    All,
}

/// The table with this column alone.
fn column_of(data: &Path, column: &str, reading: &ReadingArgs) -> Result<Table> {
    columns_of(data, column, reading, Columns::One)
}

/// The table, which must have this column.
fn columns_of(data: &Path, column: &str, reading: &ReadingArgs, which: Columns) -> Result<Table> {
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
    let is_wanted = |name: &String| which == Columns::All || name == column;
    let wanted = |name: &String| if is_wanted(name) { Treatment::Code } else { Treatment::Skip };
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
