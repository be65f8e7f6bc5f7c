//! The sensitive columns that rules look at: their codes, and the rules in codes.

use rustc_hash::FxHashMap;

use crate::codes::Code;
use crate::domain::encode::{self, ColumnSpec};
use crate::domain::hierarchy;
use crate::domain::taxonomy::{Node, Taxonomy};
use crate::error::{Error, Result};
use crate::problem::privacy::{Ground, GroundNode, Model};
use crate::request::ratio::Ratio;
use crate::request::{Distance, HierarchySpec, Kind, ModelSpec, Request, Roles, RuleSpec};
use crate::table::{Coded, Table};

/// The sensitive columns that some rule looks at, with their codes.
#[derive(Debug)]
pub(crate) struct SensitiveColumns {
    pub(crate) columns: Vec<WatchedColumn>,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct WatchedColumn {
    pub(crate) name: String,
    /// From the dictionary's codes to codes in sorted, value or tree order.
    pub(crate) map: Vec<Code>,
    pub(crate) values: usize,
    /// The code of each value as it is counted; the missing one is blank.
    counted: FxHashMap<String, Code>,
    /// By what its texts are one value.
    kind: Kind,
    missing: Vec<String>,
    taxonomy: Option<Taxonomy>,
}

impl SensitiveColumns {
    pub(crate) fn new(
        table: &Table,
        roles: &Roles,
        rules: &[RuleSpec],
        request: &Request,
        warnings: &mut Vec<String>,
    ) -> Result<SensitiveColumns> {
        let mut columns = Vec::new();
        for name in &roles.sensitive {
            let on_it = |rule: &&RuleSpec| rule.model.column() == Some(name);
            let rules: Vec<&RuleSpec> = rules.iter().filter(on_it).collect();
            if rules.is_empty() {
                warnings.push(format!(
                    "column `{name}` is sensitive but no rule protects it: a class may share one value (add --l {name}=2 or --alpha {name}=0.5)"
                ));
                continue;
            }
            let column = WatchedColumn::new(name, table.coded(name), &rules, request)?;
            warnings.extend(column.near(table.coded(name)));
            for rule in rules {
                if let ModelSpec::Alpha { values, .. } = &rule.model {
                    if !values.is_empty()
                        && !values.iter().any(|value| column.code(value).is_some())
                    {
                        return Err(Error::request(format!(
                            "none of the values that alpha names occurs in column `{name}`: check their spelling"
                        )));
                    }
                    for value in values.iter().filter(|value| column.code(value).is_none()) {
                        warnings.push(format!(
                            "the value `{value}` that alpha names does not occur in column `{name}`"
                        ));
                    }
                }
            }
            columns.push(column);
        }
        Ok(SensitiveColumns { columns })
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    pub(crate) fn model(&self, spec: &ModelSpec) -> Result<Model> {
        let at = |name: &String| {
            self.columns
                .iter()
                .position(|column| column.name == *name)
                .expect("a column with a rule is watched")
        };
        Ok(match spec {
            ModelSpec::K(k) => Model::K(*k),
            ModelSpec::Alpha { column, alpha, values } => {
                let mut codes: Vec<Code> = values
                    .iter()
                    .filter_map(|value| self.columns[at(column)].code(value))
                    .collect();
                codes.sort_unstable();
                codes.dedup();
                Model::Alpha {
                    column: at(column),
                    alpha: *alpha,
                    values: (!values.is_empty()).then_some(codes),
                }
            }
            ModelSpec::Frequency { column, l } => {
                let alpha = Ratio::new(1, *l).expect("l is positive");
                Model::Alpha { column: at(column), alpha, values: None }
            }
            ModelSpec::Distinct { column, l } => Model::Distinct { column: at(column), l: *l },
            ModelSpec::Entropy { column, l } => Model::Entropy { column: at(column), l: *l },
            ModelSpec::Recursive { column, c, l } => {
                Model::Recursive { column: at(column), c: *c, l: *l }
            }
            ModelSpec::Closeness { column, t, distance } => {
                let ground = match distance {
                    Distance::Equal => Ground::Equal,
                    Distance::Ordered => Ground::Ordered,
                    Distance::Hierarchical => ground(
                        self.columns[at(column)].taxonomy.as_ref().expect("built with the column"),
                    ),
                };
                Model::Closeness { column: at(column), t: *t, ground }
            }
        })
    }
}

impl WatchedColumn {
    fn new(
        name: &str,
        coded: &Coded,
        rules: &[&RuleSpec],
        request: &Request,
    ) -> Result<WatchedColumn> {
        let spec = ColumnSpec::new(name, request);
        let distance = rules.iter().find_map(|rule| match rule.model {
            ModelSpec::Closeness { distance, .. } => Some(distance),
            _ => None,
        });
        let mut taxonomy = None;
        let mut kind = encode::said(spec);
        let (values, map) = match distance {
            Some(Distance::Ordered) => {
                let (found, values, map) = encode::ordered_codes(spec, coded)?;
                kind = found;
                (values, map)
            }
            Some(Distance::Hierarchical) => {
                let tree = sensitive_tree(spec, coded)?;
                let map = encode::leaf_codes(&tree, &encode::present(spec, coded));
                (taxonomy.insert(tree).leaves(), map)
            }
            _ => by_text(&encode::counted(spec, coded)?),
        };
        let texts = encode::present(spec, coded);
        let mut counted = FxHashMap::default();
        for (text, &code) in texts.iter().zip(&map) {
            let value = text.as_ref().map_or(String::new(), |text| encode::spelling(kind, text));
            if counted.insert(value, code).is_some_and(|other| other != code) {
                return Err(Error::request(format!(
                    "column `{name}`: its hierarchy has one {} under two spellings, which are one value: make them alike in the source",
                    if kind == Kind::Date { "instant" } else { "number" }
                )));
            }
        }
        Ok(WatchedColumn {
            name: name.to_string(),
            map,
            values,
            counted,
            kind,
            missing: request.missing.clone(),
            taxonomy,
        })
    }

    /// The code of a value that a rule names.
    fn code(&self, value: &str) -> Option<Code> {
        let is_missing =
            value.is_empty() || self.missing.iter().any(|marker| marker.trim() == value.trim());
        let value = if is_missing { String::new() } else { encode::spelling(self.kind, value) };
        self.counted.get(&value).copied()
    }

    /// A warning where the rules count texts as different that probably mean the same.
    fn near(&self, coded: &Coded) -> Option<String> {
        let mut folded: FxHashMap<String, Code> = FxHashMap::default();
        let mut near = 0;
        for (text, &code) in coded
            .values()
            .iter()
            .zip(&self.map)
            .filter_map(|(text, code)| Some((text.as_ref()?, code)))
        {
            // What are numbers in all spellings is folded as numbers, all else by its letters.
            let fold = encode::spelling(Kind::Numeric, &text.trim().to_lowercase());
            near += u64::from(*folded.entry(fold).or_insert(code) != code);
        }
        let name = &self.name;
        (near > 0).then(|| {
            format!(
                "column `{name}`: {near} values differ from another only by case, by blanks around them or by the spelling of a number, and \
                 the rules count them as different: make them alike in the source, or for numbers say --kind {name}=numeric"
            )
        })
    }
}

/// Codes in the order of the texts, so that they do not depend on the order of the rows.
fn by_text(values: &[Option<String>]) -> (usize, Vec<Code>) {
    let mut sorted: Vec<&Option<String>> = values.iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    let place = |value| sorted.binary_search(&value).expect("it is one of them");
    let map = values
        .iter()
        .map(|value| Code::try_from(place(value)).expect("fewer values than rows"))
        .collect();
    (sorted.len(), map)
}

fn sensitive_tree(spec: ColumnSpec, coded: &Coded) -> Result<Taxonomy> {
    let values = encode::present(spec, coded);
    match spec.column.and_then(|column| column.hierarchy.as_ref()) {
        Some(HierarchySpec::File(path)) => hierarchy::taxonomy(
            &hierarchy::read_of(path, spec.name, spec.missing)?,
            spec.name,
            &values,
            coded.first_row(),
        ),
        Some(HierarchySpec::Prefix(request)) => {
            hierarchy::prefix(spec.name, &request.prefix, &values, coded.first_row())
        }
        _ => Err(Error::request(format!(
            "column `{}`: the hierarchical distance needs a hierarchy, a file or a prefix specification",
            spec.name
        ))),
    }
}

/// The inner nodes of a tree, children before their parents, each with its height above the leaves.
fn ground(tree: &Taxonomy) -> Ground {
    let mut nodes = Vec::new();
    fn walk(tree: &Taxonomy, node: Node, nodes: &mut Vec<GroundNode>) -> u32 {
        let below = tree.children(node).map(|child| walk(tree, child, nodes)).max();
        let height = below.map_or(0, |below| below + 1);
        if height > 0 {
            nodes.push(GroundNode { range: tree.range(node), height });
        }
        height
    }
    walk(tree, tree.root(), &mut nodes);
    Ground::Hierarchical { nodes }
}
