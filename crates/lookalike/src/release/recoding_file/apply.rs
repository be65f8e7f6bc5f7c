//! Publishes a table by a recoding file.

use rustc_hash::FxHashMap;

use super::{FileBlock, FileColumn, RecodingFile, kind};
use crate::audit::first_uncovered;
use crate::codes::{Code, CodeRange, RowId};
use crate::domain::attribute::{Attribute, Domain, Unit};
use crate::domain::parse::DAY;
use crate::domain::scheme::{Blocks, Generalization, ValueBlock};
use crate::error::{Error, Hint, Result, percent_up};
use crate::problem::Problem;
use crate::problem::partition;
use crate::problem::recoding::Recoding;
use crate::request::Request;

/// Publishes a table by a recoding file. Rows of classes that do not satisfy the rules are
/// suppressed.
///
/// The file must have been [`read`](super::read) for this request.
///
/// # Example
/// ```
/// # use lookalike::{Problem, Request, release::recoding_file, table::{self, Treatment}};
/// # let file = "version = 1\n[columns.age]\nkind = 'numeric'\nlevels = 1\n\
/// #     [[columns.age.blocks]]\nshow = '[20-39]'\nfrom = '20'\nto = '39'\nloss = 1\nrisen = 1";
/// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// let file = recoding_file::parse(file, &request)?;
/// let source = table::open_text("age\n21\n34\n39\n".into(), "later.csv".as_ref())?;
/// let roles = request.roles(source.names())?;
/// let problem = Problem::new(&source.read(&[Treatment::Code])?, &roles, &request)?;
/// assert_eq!(recoding_file::apply(&file, &problem, &request)?.classes().len(), 1);
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// [`Data`](crate::ErrorKind::Data) when a value is in no block,
/// [`Infeasible`](crate::ErrorKind::Infeasible) when more rows would be suppressed than allowed,
/// [`Request`](crate::ErrorKind::Request) when a column is of another kind or a label does not
/// cover the values of its block.
pub fn apply(file: &RecodingFile, problem: &Problem, request: &Request) -> Result<Recoding> {
    let attributes = problem
        .attributes()
        .iter()
        .enumerate()
        .map(|(at, attribute)| blocks(file, problem, at, attribute, request));
    let recoding = Recoding::global(
        problem,
        Generalization { attributes: attributes.collect::<Result<_>>()? },
    );
    let (suppressed, rows) = (partition::rows(recoding.suppressed()), problem.row_count());
    if suppressed <= problem.allowance() {
        return Ok(recoding);
    }
    let share = percent_up(suppressed, rows);
    // Neither rows under t-closeness nor all rows can be suppressed.
    let is_close = request.columns.values().any(|line| line.t.is_some());
    let reason = format!(
        "{share} of the rows are in classes that do not satisfy the rules by this recoding file, \
         more than may be suppressed"
    );
    let error = Error::infeasible("recoding-suppresses-too-many", reason)
        .hint(Hint::plain("apply it to more rows at once"));
    Err(if is_close || suppressed == rows {
        error
    } else {
        error.hint(Hint::AllowSuppression { share })
    })
}

/// The blocks of an attribute in the codes of the problem: those that occur.
fn blocks(
    file: &RecodingFile,
    problem: &Problem,
    at: usize,
    attribute: &Attribute,
    request: &Request,
) -> Result<Blocks> {
    let name = &attribute.name;
    let unfit = |why: String| {
        Error::request("recoding-misfit", format!("column `{name}`{why}")).about_column(name)
    };
    let column =
        file.columns.get(name).ok_or_else(|| unfit(" is not in the recoding file".into()))?;
    if column.kind != kind(attribute) {
        let named = format!("{:?}", column.kind).to_lowercase();
        let why = format!(" is {named} in the recoding file and of another kind here");
        return Err(unfit(why).hint(Hint::SetKind { column: name.clone(), kind: named }));
    }
    let spans = column.spans(request.column(name)).map_err(unfit)?;
    let place_of = column.places(attribute, &spans);
    let first_row = first_rows(problem, at, attribute);
    let without_block = first_row.iter().zip(&place_of).filter(|(_, place)| place.is_none());
    if let Some(row) = without_block.filter_map(|(row, _)| *row).min() {
        return Err(Error::data(
            "recoding-lacks-value",
            "no block of the recoding file has the value, as no row had it that the file was made \
             from",
        )
        .at_row(name, row)
        .hint(Hint::plain("fix the cell"))
        .hint(Hint::MakeRecoding));
    }
    let occurring: Vec<Code> =
        (0..).zip(&first_row).filter(|(_, row)| row.is_some()).map(|(code, _)| code).collect();
    let (found, number_of) = column.numbered(&occurring, &place_of);
    // The labels come from whoever wrote the file: a reader of the release must find that they
    // cover the values here.
    let values: Vec<(Option<String>, u32)> = occurring
        .iter()
        .map(|&code| {
            (
                value(attribute, code),
                found.of_code[code as usize].expect("every value that occurs has a block"),
            )
        })
        .collect();
    let labels: Vec<&str> = found.blocks.iter().map(|block| block.label.as_str()).collect();
    let line = request.column(name).ok_or_else(|| unfit(" has no role".into()))?;
    if let Some(value) = first_uncovered(&values, &labels, line, &request.missing)? {
        let place = number_of
            .iter()
            .position(|number| *number == Some(values[value].1))
            .expect("a block of the file");
        return Err(unfit(format!(
            ", block {} of the recoding file: its label does not cover one of its values: take the \
             hierarchy that the file was made with, or make the file anew",
            place + 1
        )));
    }
    Ok(found)
}

/// For each code of an attribute the first source row that has it.
fn first_rows(problem: &Problem, at: usize, attribute: &Attribute) -> Vec<Option<RowId>> {
    let mut first_row = vec![None; attribute.codes()];
    for tuple in (0u32..).take(problem.tuples()) {
        let (row, seen) =
            (problem.rows_of(tuple)[0], &mut first_row[problem.code(at, tuple) as usize]);
        *seen = Some(seen.map_or(row, |earlier: RowId| earlier.min(row)));
    }
    first_row
}

/// How the table writes a value; none for the missing one.
fn value(attribute: &Attribute, code: Code) -> Option<String> {
    match &attribute.domain {
        Domain::Tree(tree) => {
            Some(tree.leaf_label(code)).filter(|label| !label.is_empty()).map(String::from)
        }
        Domain::Ordered(ordered) => ordered.texts().get(code as usize).cloned(),
    }
}

impl FileColumn {
    /// The blocks that occur, numbered in the order of their first codes, and for each block of the
    /// file its number.
    fn numbered(
        &self,
        occurring: &[Code],
        place_of: &[Option<usize>],
    ) -> (Blocks, Vec<Option<u32>>) {
        let mut blocks: Vec<ValueBlock> = Vec::new();
        let mut number_of = vec![None; self.blocks.len()];
        for &code in occurring {
            let Some(place) = place_of[code as usize] else { continue };
            let next = u32::try_from(blocks.len()).expect("fewer blocks than codes");
            let number = *number_of[place].get_or_insert(next);
            if number == next {
                let FileBlock { show, loss, risen, .. } = &self.blocks[place];
                blocks.push(ValueBlock {
                    label: show.clone(),
                    ends: CodeRange::one(code),
                    loss: *loss,
                    levels_up: (*risen, self.levels),
                });
            }
            blocks[number as usize].ends.hi = code;
        }
        let of_code =
            place_of.iter().map(|place| place.and_then(|place| number_of[place])).collect();
        (Blocks { of_code, blocks, is_of_values: false }, number_of)
    }

    /// For each code of the attribute the place of its block in the file.
    fn places(&self, attribute: &Attribute, spans: &[(f64, f64, usize)]) -> Vec<Option<usize>> {
        match &attribute.domain {
            Domain::Tree(tree) => {
                let mut of_value: FxHashMap<&str, usize> = FxHashMap::default();
                for (at, block) in self.blocks.iter().enumerate() {
                    of_value
                        .extend(block.values.iter().flatten().map(|value| (value.as_str(), at)));
                }
                (0..)
                    .take(tree.leaves())
                    .map(|code| of_value.get(tree.leaf_label(code)).copied())
                    .collect()
            }
            Domain::Ordered(ordered) => {
                let scale = if ordered.unit() == Unit::Day { DAY } else { 1.0 };
                let span = |value: f64| {
                    let (_, to, at) =
                        *spans[..spans.partition_point(|span| span.0 <= value)].last()?;
                    (value <= to).then_some(at)
                };
                let missing = self.blocks.iter().position(|block| block.missing);
                let values = ordered.values().iter().map(|value| span(value * scale));
                values.chain(ordered.has_missing().then_some(missing)).collect()
            }
        }
    }
}
