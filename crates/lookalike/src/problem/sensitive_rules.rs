//! The sensitive columns that are under a rule: their codes, and the rules in codes.
//!
//! The rules count values. Two texts are one value when they are equal, or when the request gives
//! the column a kind (numeric, date) in which they are spellings of one number or instant.

use rustc_hash::FxHashMap;

use crate::codes::Code;
use crate::domain::encode::{self, ColumnSpec};
use crate::domain::kind::requested;
use crate::domain::parse::spelling;
use crate::domain::taxonomy::{Node, Taxonomy};
use crate::domain::{SensitiveDomain, TableDomain};
use crate::error::{Error, Hint, Result, Warning};
use crate::problem::privacy::{GroundDistance, GroundNode, Model};
use crate::request::ratio::Ratio;
use crate::request::{Distance, Kind, ModelSpec, Request, Roles, RuleSpec};
use crate::table::{Coded, Table};

/// All sensitive columns under a rule.
#[derive(Debug)]
pub(crate) struct SensitiveColumns {
    pub(crate) columns: Vec<SensitiveColumn>,
}

/// One sensitive column under a rule.
#[derive(Debug)]
pub(crate) struct SensitiveColumn {
    pub(crate) name: String,
    /// From the dictionary's codes to codes in sorted, value or tree order.
    pub(crate) map: Vec<Code>,
    /// The number of values, with the missing one.
    pub(crate) values: usize,
    /// The code of each value in its one spelling; the missing value is empty.
    counted: FxHashMap<String, Code>,
    /// The kind in which texts are spellings of one value.
    kind: Kind,
    missing: Vec<String>,
    /// The distance that the codes are in order for.
    distance: Distance,
    taxonomy: Option<Taxonomy>,
}

impl SensitiveColumns {
    /// Encodes the columns; warns of a sensitive column without a rule, and of values that are
    /// probably spelling mistakes.
    pub(crate) fn new<'t>(
        coded: impl Fn(&str) -> &'t Coded,
        roles: &Roles,
        rules: &[RuleSpec],
        request: &Request,
        warnings: &mut Vec<Warning>,
    ) -> Result<SensitiveColumns> {
        let mut columns = Vec::new();
        for name in &roles.sensitive {
            let rules = rules_on(name, rules);
            if rules.is_empty() {
                let reason = format!(
                    "column `{name}` is sensitive but no rule protects it: a class may share one \
                     value"
                );
                warnings.push(
                    Warning::new("sensitive-without-rule", reason)
                        .about_column(name)
                        .hint(Hint::AddRule { column: name.clone() }),
                );
                continue;
            }
            let column = SensitiveColumn::new(name, coded(name), &rules, request)?;
            warnings.extend(column.similar_values(coded(name)));
            for rule in rules {
                if let ModelSpec::Alpha { values, .. } = &rule.model {
                    warnings.extend(column.absent_values(values)?);
                }
            }
            columns.push(column);
        }
        Ok(SensitiveColumns { columns })
    }

    /// The columns of a part of a table, in the codes of the whole.
    pub(crate) fn within(
        domain: &TableDomain,
        table: &Table,
        roles: &Roles,
        rules: &[RuleSpec],
        request: &Request,
    ) -> Result<SensitiveColumns> {
        let mut columns = Vec::new();
        for name in &roles.sensitive {
            let rules = rules_on(name, rules);
            if !rules.is_empty() {
                let column = domain.sensitive_of(name, distance(&rules).unwrap_or_default())?;
                columns.push(SensitiveColumn::within(column, table.coded(name), request)?);
            }
        }
        Ok(SensitiveColumns { columns })
    }

    /// For each column the rows of the whole table with each code.
    pub(crate) fn totals_in(&self, domain: &TableDomain) -> Result<Vec<Vec<u64>>> {
        let totals = |column: &SensitiveColumn| {
            Ok(domain.sensitive_of(&column.name, column.distance)?.totals.clone())
        };
        self.columns.iter().map(totals).collect()
    }

    /// A rule in codes.
    pub(crate) fn model(&self, spec: &ModelSpec) -> Result<Model> {
        let at = |name: &String| {
            self.columns
                .iter()
                .position(|column| column.name == *name)
                .expect("a column with a rule is one of them")
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
                    Distance::Equal => GroundDistance::Equal,
                    Distance::Ordered => GroundDistance::Ordered,
                    Distance::Hierarchical => ground(
                        self.columns[at(column)].taxonomy.as_ref().expect("built with the column"),
                    ),
                };
                Model::Closeness { column: at(column), t: *t, ground }
            }
        })
    }
}

/// The rules on a sensitive column.
fn rules_on<'r>(name: &String, rules: &'r [RuleSpec]) -> Vec<&'r RuleSpec> {
    rules.iter().filter(|rule| rule.model.column() == Some(name)).collect()
}

/// The distance of the rules on a column that measure one.
fn distance(rules: &[&RuleSpec]) -> Option<Distance> {
    rules.iter().find_map(|rule| match rule.model {
        ModelSpec::Closeness { distance, .. } => Some(distance),
        _ => None,
    })
}

impl SensitiveColumn {
    /// The domain of the column, with the rows of the whole table that have each code.
    pub(crate) fn domain(self, totals: Vec<u64>) -> SensitiveDomain {
        SensitiveDomain {
            name: self.name,
            distance: self.distance,
            kind: self.kind,
            codes: self.counted,
            missing: self.missing,
            taxonomy: self.taxonomy,
            totals,
        }
    }

    fn within(
        domain: &SensitiveDomain,
        coded: &Coded,
        request: &Request,
    ) -> Result<SensitiveColumn> {
        Ok(SensitiveColumn {
            name: domain.name.clone(),
            map: domain.codes(coded, request)?,
            values: domain.totals.len(),
            counted: domain.codes.clone(),
            kind: domain.kind,
            missing: domain.missing.clone(),
            distance: domain.distance,
            taxonomy: domain.taxonomy.clone(),
        })
    }

    fn new(
        name: &str,
        coded: &Coded,
        rules: &[&RuleSpec],
        request: &Request,
    ) -> Result<SensitiveColumn> {
        let spec = ColumnSpec::new(name, request);
        let distance = distance(rules);
        let mut taxonomy = None;
        let mut kind = requested(spec);
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
            let value = text.as_ref().map_or(String::new(), |text| spelling(kind, text));
            if counted.insert(value, code).is_some_and(|other| other != code) {
                return Err(Error::request(
                    "two-spellings",
                    format!(
                        "its hierarchy has one {} in two spellings, which are one value: use one \
                         spelling in the source",
                        if kind == Kind::Date { "instant" } else { "number" }
                    ),
                )
                .at_column(name));
            }
        }
        Ok(SensitiveColumn {
            name: name.to_string(),
            map,
            values,
            counted,
            kind,
            missing: request.missing.clone(),
            distance: distance.unwrap_or_default(),
            taxonomy,
        })
    }

    /// The code of a value that a rule names.
    fn code(&self, value: &str) -> Option<Code> {
        let is_missing =
            value.is_empty() || self.missing.iter().any(|marker| marker.trim() == value.trim());
        let value = if is_missing { String::new() } else { spelling(self.kind, value) };
        self.counted.get(&value).copied()
    }

    /// Warnings for the values that alpha names and the column does not have; an error when it has
    /// none of them.
    fn absent_values(&self, named: &[String]) -> Result<Vec<Warning>> {
        let name = &self.name;
        let absent: Vec<&String> =
            named.iter().filter(|value| self.code(value).is_none()).collect();
        if !named.is_empty() && absent.len() == named.len() {
            return Err(Error::request(
                "no-alpha-value-occurs",
                format!(
                    "none of the values that alpha names occurs in column `{name}`: check their \
                     spelling"
                ),
            )
            .about_column(name));
        }
        let warning = |value: &&String| {
            let reason = format!(
                "the value `{value}` that alpha names does not occur in column `{name}`: check \
                     its spelling, the rule is about the others"
            );
            Warning::new("alpha-value-absent", reason).about_column(name)
        };
        Ok(absent.iter().map(warning).collect())
    }

    /// A warning where the rules count texts as different that probably mean the same.
    fn similar_values(&self, coded: &Coded) -> Option<Warning> {
        let mut folded: FxHashMap<String, Code> = FxHashMap::default();
        let mut similar = 0;
        for (text, &code) in coded
            .values()
            .iter()
            .zip(&self.map)
            .filter_map(|(text, code)| Some((text.as_ref()?, code)))
        {
            // Numbers are compared as numbers, all other texts in lower case.
            let fold = spelling(Kind::Numeric, &text.trim().to_lowercase());
            similar += u64::from(*folded.entry(fold).or_insert(code) != code);
        }
        let name = &self.name;
        (similar > 0).then(|| {
            let reason = format!(
                "column `{name}`: {similar} values differ from another only by case, by blanks \
                 around them or by the spelling of a number, and the rules count them as different"
            );
            Warning::new("similar-values", reason)
                .about_column(name)
                .hint(Hint::plain("use one spelling in the source"))
                .hint(Hint::SetKind { column: name.clone(), kind: "numeric".into() })
        })
    }
}

/// The number of values, and the code of each in the order of the texts: independent of the order
/// of the rows.
fn by_text(values: &[Option<String>]) -> (usize, Vec<Code>) {
    let mut sorted: Vec<&Option<String>> = values.iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    let place = |value| sorted.binary_search(&value).expect("a value of the list");
    let map = values
        .iter()
        .map(|value| Code::try_from(place(value)).expect("fewer values than rows"))
        .collect();
    (sorted.len(), map)
}

fn sensitive_tree(spec: ColumnSpec, coded: &Coded) -> Result<Taxonomy> {
    let values = encode::present(spec, coded);
    encode::requested_taxonomy(spec, &values, coded.first_row())?.ok_or_else(|| {
        Error::request(
            "no-hierarchy",
            "the hierarchical distance needs a hierarchy, a file or a prefix specification",
        )
        .at_column(spec.name)
    })
}

/// The inner nodes of a tree, children before their parents, each with its height above the leaves.
fn ground(tree: &Taxonomy) -> GroundDistance {
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
    GroundDistance::Hierarchical { nodes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// The sensitive column v of a table with these values, under these keys, with all warnings.
    fn columns(values: &[&str], keys: &str) -> Result<(SensitiveColumns, Vec<String>)> {
        let lines: String = values.iter().map(|value| format!("1,\"{value}\"\n")).collect();
        let table = testing::table(&format!("q,v\n{lines}"));
        let toml = format!(
            "k = 1\nmissing = ['?']\ncolumns.q.role = 'quasi'\n\
             columns.v = {{ role = 'sensitive'{keys} }}"
        );
        let (roles, request) = testing::request(&table, &toml);
        let rules = request.rules(&roles).unwrap();
        let mut warnings = Vec::new();
        let coded = |name: &str| table.coded(name);
        let columns = SensitiveColumns::new(coded, &roles, &rules, &request, &mut warnings)?;
        Ok((columns, warnings.iter().map(Warning::to_string).collect()))
    }

    /// The code of each text, in the order in which the texts first occur.
    fn codes(values: &[&str], keys: &str) -> (usize, Vec<Code>) {
        let (mut columns, _) = columns(values, keys).unwrap();
        let column = columns.columns.pop().unwrap();
        (column.values, column.map)
    }

    fn refused(values: &[&str], keys: &str) -> String {
        columns(values, keys).unwrap_err().to_string()
    }

    #[test]
    fn texts_are_counted_as_they_are_unless_the_request_gives_a_kind() {
        let values = ["30", "30.0", "4", "?", ""];
        // By text, the missing value before all others.
        assert_eq!(codes(&values, ", l = 1"), (4, vec![1, 2, 3, 0, 0]));
        assert_eq!(codes(&values, ", l = 1, kind = 'numeric'"), (3, vec![1, 1, 2, 0, 0]));
        let instants = ["2024-01-01T02:00:00+02:00", "2024-01-01T00:00:00Z"];
        assert_eq!(codes(&instants, ", l = 1").0, 2);
        assert_eq!(codes(&instants, ", l = 1, kind = 'date'").0, 1);
    }

    #[test]
    fn the_ordered_distance_codes_by_value_or_by_the_given_order() {
        let ordered = ", t = 0.5, distance = 'ordered'";
        assert_eq!(codes(&["10", "9", "10.0", ""], ordered), (3, vec![1, 0, 1, 2]));
        let order = format!("{ordered}, order = ['low', 'high']");
        assert_eq!(codes(&["high", "low"], &order), (2, vec![1, 0]));
        assert_eq!(
            refused(&["red", "blue"], ordered),
            "column `v`: the ordered distance needs numbers, dates, or an order; set `order` of \
             column `v`, as in [\"low\", \"high\"]"
        );
    }

    #[test]
    fn the_hierarchical_distance_codes_by_tree_and_measures_by_height() {
        let keys = ", t = 0.5, distance = 'hierarchical', hierarchy = { prefix = [1] }";
        let (columns, _) = columns(&["21", "12", "11"], keys).unwrap();
        assert_eq!(columns.columns[0].map, [2, 1, 0]);
        let t = Ratio::new(1, 2).unwrap();
        let spec = ModelSpec::Closeness { column: "v".into(), t, distance: Distance::Hierarchical };
        let Model::Closeness { ground: GroundDistance::Hierarchical { nodes }, .. } =
            columns.model(&spec).unwrap()
        else {
            panic!("a hierarchical distance")
        };
        let heights: Vec<(Code, Code, u32)> =
            nodes.iter().map(|node| (node.range.lo, node.range.hi, node.height)).collect();
        assert_eq!(heights, [(0, 1, 1), (2, 2, 1), (0, 2, 2)]);
        assert_eq!(
            refused(&["21"], ", t = 0.5, distance = 'hierarchical'"),
            "column `v`: the hierarchical distance needs a hierarchy, a file or a prefix \
             specification"
        );
    }

    #[test]
    fn the_values_that_alpha_names_are_found_in_every_spelling() {
        let keys = ", alpha = 0.5, values = ['3e1', '?', '77'], kind = 'numeric'";
        let (columns, warnings) = columns(&["30", "4", ""], keys).unwrap();
        assert_eq!(
            warnings,
            [
                "the value `77` that alpha names does not occur in column `v`: check its spelling, the \
                 rule is about the others"
            ]
        );
        let values = ["3e1", "?", "77"].map(String::from).to_vec();
        let alpha = Ratio::new(1, 2).unwrap();
        let spec = ModelSpec::Alpha { column: "v".into(), alpha, values };
        let Model::Alpha { values: Some(codes), .. } = columns.model(&spec).unwrap() else {
            panic!("alpha on named values")
        };
        assert_eq!(codes, [0, 1], "the missing value and 30");
        assert_eq!(
            refused(&["a"], ", alpha = 0.5, values = ['A', 'b']"),
            "none of the values that alpha names occurs in column `v`: check their spelling"
        );
    }

    #[test]
    fn l_diversity_is_alpha_of_one_in_l() {
        let (columns, _) = columns(&["a", "b"], ", l = 4").unwrap();
        let model = columns.model(&ModelSpec::Frequency { column: "v".into(), l: 4 }).unwrap();
        let Model::Alpha { column: 0, alpha, values: None } = model else { panic!("{model:?}") };
        assert_eq!((alpha.num(), alpha.den()), (1, 4));
        assert_eq!(columns.columns[0].name, "v");
    }

    #[test]
    fn a_column_without_a_rule_and_similar_values_get_a_warning() {
        let (none, warnings) = columns(&["a"], "").unwrap();
        assert!(none.columns.is_empty());
        assert_eq!(
            warnings,
            [
                "column `v` is sensitive but no rule protects it: a class may share one value; add a \
              rule, as in `distinct = 2` for column `v`, or a stricter `l` or `alpha`"
            ]
        );
        let (_, warnings) = columns(&["Flu", "flu", " flu", "30", "30.0"], ", l = 1").unwrap();
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].starts_with("column `v`: 3 values differ from another only by case"));
        assert!(columns(&["a", "b"], ", l = 1").unwrap().1.is_empty());
    }

    #[test]
    fn one_number_under_two_leaves_is_refused() {
        let keys = ", t = 0.5, distance = 'hierarchical', kind = 'numeric', \
                    hierarchy = { prefix = [1] }";
        assert_eq!(
            refused(&["30", "30.0"], keys),
            "column `v`: its hierarchy has one number in two spellings, which are one value: use \
             one spelling in the source"
        );
    }
}
