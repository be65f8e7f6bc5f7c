//! From code ranges to published cells: labels, sets, or bounds.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StringArray, UInt32Array};
use arrow_schema::{DataType, Field};
use arrow_select::take::take;
use rustc_hash::{FxHashMap, FxHashSet};

use super::bounds::{Bound, bounds};
use crate::codes::{Code, CodeRange, Codes};
use crate::domain::attribute::{Attribute, Domain};
use crate::domain::label::set_label;
use crate::domain::taxonomy::Taxonomy;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::problem::partition::Piece;
use crate::problem::recoding::Recoding;
use crate::request::{Publish, Request};

/// A released column: its distinct cells, and for each class which of them it publishes.
#[derive(Debug)]
pub struct PublishedColumn {
    /// Name and type of the column.
    pub field: Field,
    /// The distinct cells.
    pub cells: ArrayRef,
    /// For each class of the recoding the number of its cell.
    pub of_class: Codes,
    /// For each cell its place in the order of the domain: by the least value it stands for, then by
    /// the greatest. Cells of bounds that are equal have the same place.
    pub places: Vec<u32>,
    /// For each cell whether it stands for one value, or for a missing one, and no other.
    pub is_exact: Vec<bool>,
}

impl PublishedColumn {
    /// The cells of some classes, one after the other; null where there is none.
    ///
    /// # Errors
    /// When the cells cannot be gathered.
    pub fn of_classes(&self, classes: impl Iterator<Item = Option<u32>>) -> Result<ArrayRef> {
        let cell = |class: Option<u32>| class.map(|class| self.of_class.get(class as usize));
        let indices: UInt32Array = classes.map(cell).collect();
        take(&self.cells, &indices, None).map_err(super::gathering)
    }
}

/// The released columns of a quasi-identifier by its number: one, or with bounds two to four. All
/// of them have the types of the source, not those of a text file.
///
/// # Example
/// ```
/// # use lookalike::{*, release::published_columns, table::Treatment};
/// # let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// # let source = table::open_text("age\n30\n35\n50\n50\n".into(), "data.csv".as_ref())?;
/// # let roles = request.roles(source.names())?;
/// # let problem = Problem::new(&source.read(&[Treatment::Code])?, &roles, &request)?;
/// # let options = SearchOptions::new(Algorithm::Mondrian, 1);
/// # let recoding = solve(&problem, options, &Budget::unlimited()).recoding;
/// let [age] = &published_columns(&problem, &recoding, 0, &request)?[..] else { panic!() };
/// let cells = age.of_classes([Some(0), Some(1), None].into_iter())?;
/// assert_eq!((age.field.name().as_str(), cells.len()), ("age", 3));
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When two generalizations would have the same label, or one would have a label that means
/// missing.
pub fn published_columns(
    problem: &Problem,
    recoding: &Recoding,
    at: usize,
    request: &Request,
) -> Result<Vec<PublishedColumn>> {
    let attribute = &problem.attributes()[at];
    let publish = request.output.publish;
    if let (true, Domain::Ordered(ordered)) = (publish.has_bounds(), &attribute.domain) {
        let (ranges, of_class) = ranges(recoding, at);
        let columns = bounds(attribute, ordered, &ranges, publish)?.into_iter();
        return Ok(columns
            .map(|Bound { field, cells, places }| PublishedColumn {
                field,
                cells,
                places,
                of_class: of_class.clone(),
                is_exact: ranges.iter().map(|&range| ordered.is_exact(range)).collect(),
            })
            .collect());
    }
    let Labels { cells, of_class, places, is_exact } = labels(problem, recoding, at, publish);
    check(&attribute.name, &cells, &request.missing)?;
    let (field, cells) = (text(&attribute.name), Arc::new(cells));
    Ok(vec![PublishedColumn { field, cells, of_class, places, is_exact }])
}

/// For each key its place among all of them, ascending.
fn ranked<K: Ord>(keys: &[K]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|&at| &keys[at]);
    let mut places = vec![0; keys.len()];
    (0u32..).zip(order).for_each(|(place, at)| places[at] = place);
    places
}

/// The label of each generalization of an attribute, for each class which of them it has, and for
/// each label its place in the order of the domain and whether it is one value.
struct Labels {
    cells: StringArray,
    of_class: Codes,
    places: Vec<u32>,
    is_exact: Vec<bool>,
}

/// True when a label is that of a value, and not of an interval or a group that has only one.
fn is_value(attribute: &Attribute, range: CodeRange, label: &str) -> bool {
    let text = match &attribute.domain {
        Domain::Ordered(ordered) => {
            ordered.texts().get(range.lo as usize).map_or("", String::as_str).to_string()
        }
        Domain::Tree(tree) => set_label(std::iter::once(tree.leaf_label(range.lo))),
    };
    range.is_one() && text == label
}

fn labels(problem: &Problem, recoding: &Recoding, at: usize, publish: Publish) -> Labels {
    let attribute = &problem.attributes()[at];
    match (publish, &attribute.domain) {
        _ if let Some(all) = recoding.published() => {
            let blocks = &all.attributes[at];
            let labels = blocks
                .blocks
                .iter()
                .map(|block| Some(block.label.as_str()).filter(|label| !label.is_empty()));
            let block_of =
                |class: &[Piece]| blocks.of_code[problem.code(at, class[0].tuple) as usize];
            let of_class = recoding
                .classes()
                .iter()
                .map(|class| block_of(class).expect("every value that occurs has a block"));
            let ends: Vec<CodeRange> = blocks.blocks.iter().map(|block| block.ends).collect();
            let is_exact = blocks.blocks.iter();
            let is_exact = is_exact.map(|block| is_value(attribute, block.ends, &block.label));
            Labels {
                cells: labels.collect(),
                of_class: of_class.collect(),
                places: ranked(&ends),
                is_exact: is_exact.collect(),
            }
        }
        (Publish::Set, Domain::Tree(tree)) if tree.is_flat() && !recoding.is_of_rings() => {
            sets(problem, recoding, at, tree)
        }
        _ => {
            let (ranges, of_class) = ranges(recoding, at);
            let labels: Vec<String> = ranges.iter().map(|&range| attribute.label(range)).collect();
            let is_exact = ranges.iter().zip(&labels);
            let is_exact = is_exact.map(|(&range, label)| is_value(attribute, range, label));
            Labels {
                is_exact: is_exact.collect(),
                cells: labels.iter().map(|label| Some(label).filter(|it| !it.is_empty())).collect(),
                of_class,
                places: ranked(&ranges),
            }
        }
    }
}

/// Readers of the release distinguish generalizations by their labels: no two may have the same
/// label, and none may read as a missing value. Hierarchies and orders are checked when they are
/// read, so this finds nothing; no release is written without it.
fn check(name: &str, labels: &StringArray, missing: &[String]) -> Result<()> {
    let mut seen = FxHashSet::default();
    let is_missing = |label: &str| missing.iter().any(|marker| marker.trim() == label.trim());
    for label in labels.iter().flatten() {
        if is_missing(label) {
            return Err(Error::request(
                "label-means-missing",
                "a generalized value would be written as a text that means missing: rename the \
                 group, or remove the text from missing",
            )
            .at_column(name));
        }
        if !seen.insert(label) {
            return Err(same_label(name));
        }
    }
    if labels.null_count() > 1 { Err(same_label(name)) } else { Ok(()) }
}

fn same_label(name: &str) -> Error {
    Error::request(
        "same-label",
        "two different generalizations would be written alike, so nothing was written: rename the \
         value or the group that reads like a set, a range or another group",
    )
    .at_column(name)
}

/// The distinct ranges of the classes on an attribute, ascending, and for each class its range.
fn ranges(recoding: &Recoding, at: usize) -> (Vec<CodeRange>, Codes) {
    let of_class: Vec<CodeRange> =
        (0..recoding.classes().len()).map(|class| recoding.ranges(class)[at]).collect();
    let mut distinct = of_class.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let place = |range| {
        Code::try_from(
            distinct
                .binary_search(range)
                .expect("every range of a class is among the distinct ones"),
        )
        .expect("fewer ranges than rows")
    };
    let codes = of_class.iter().map(place).collect();
    (distinct, codes)
}

fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
}

/// The values present in each class, `{a, b}`; one value alone is written without braces.
fn sets(problem: &Problem, recoding: &Recoding, at: usize, tree: &Taxonomy) -> Labels {
    let mut known: FxHashMap<Vec<Code>, Code> = FxHashMap::default();
    let mut cells: Vec<Option<String>> = Vec::new();
    let mut listed: Vec<Vec<Code>> = Vec::new();
    let mut of_class = Codes::new();
    // Where a rule is on fewer columns, the classes of those columns must stay indistinguishable:
    // they publish one set.
    let decided = problem.decided_with(at);
    let ranges = |class: usize| -> Vec<CodeRange> {
        decided.iter().map(|&attribute| recoding.ranges(class)[attribute]).collect()
    };
    let mut codes_of: FxHashMap<Vec<CodeRange>, Vec<Code>> = FxHashMap::default();
    for (class, pieces) in recoding.classes().iter().enumerate() {
        codes_of
            .entry(ranges(class))
            .or_default()
            .extend(pieces.iter().flat_map(|piece| problem.codes(at, piece.tuple)));
    }
    codes_of.values_mut().for_each(|codes| {
        codes.sort_unstable();
        codes.dedup();
    });
    for class in 0..recoding.classes().len() {
        let codes = codes_of[&ranges(class)].clone();
        let next = Code::try_from(cells.len()).expect("fewer sets than rows");
        let index = *known.entry(codes).or_insert_with_key(|codes| {
            let cell = set_label(codes.iter().map(|&code| tree.leaf_label(code)));
            cells.push(Some(cell).filter(|cell| !cell.is_empty()));
            listed.push(codes.clone());
            next
        });
        of_class.push(index);
    }
    Labels {
        cells: StringArray::from(cells),
        of_class,
        places: ranked(&listed),
        is_exact: listed.iter().map(|codes| codes.len() == 1).collect(),
    }
}
