//! A global recoding in a file, so that later rows are published in the same way as earlier ones:
//!
//! ```toml
//! version = 1
//!
//! [columns.age]
//! kind = "numeric"
//! levels = 1
//!
//! [[columns.age.blocks]]
//! show = "[20-30]"
//! from = "20"
//! to = "30"
//! loss = 0.25
//! risen = 1
//! ```
//!
//! Numbers, dates and ordinal labels have `from` and `to`, both included, categories their
//! `values`. The missing value is `missing = true` of an ordered column and `""` among values.
//! Losses are stored, not computed again: they are shares of the domain of the table that the file
//! was made from, which later rows need not cover. So the losses of all releases by one file can be
//! compared.
//!
//! The file lists values of the table. No message about it quotes any of them.

mod apply;

pub use apply::apply;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::codes::Code;
use crate::domain::attribute::{Attribute, Domain, Unit};
use crate::domain::parse::{number, seconds};
use crate::domain::scheme::{Blocks, Generalization, ValueBlock};
use crate::error::{Error, Hint, Result};
use crate::request::{ColumnRequest, HierarchySpec, Kind, Request, Role, list};

/// A recoding file: for each quasi-identifier its blocks. [`parse`] checks that blocks are complete
/// and do not overlap.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RecodingFile {
    version: u32,
    columns: BTreeMap<String, FileColumn>,
}

/// The blocks of a quasi-identifier.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct FileColumn {
    kind: Kind,
    /// Levels of its hierarchy above the values.
    levels: u32,
    blocks: Vec<FileBlock>,
}

/// Values that are published as one label.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct FileBlock {
    show: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    values: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    missing: bool,
    loss: f64,
    risen: u32,
}

const HEAD: &str = concat!(
    "# A global recoding, made by `lookalike anonymize --recoding`; ",
    "`lookalike apply` publishes further rows by it.\n",
    "# It lists values of the table: keep it as secret as the table.\n",
);

const VERSION: u32 = 1;

/// The text of the recoding file for a generalization of these attributes.
///
/// # Example
/// ```
/// # use lookalike::{*, release::recoding_file, table::Treatment};
/// # let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// # let source = table::open_text("age\n21\n34\n39\n".into(), "data.csv".as_ref())?;
/// # let roles = request.roles(source.names())?;
/// # let problem = Problem::new(&source.read(&[Treatment::Code])?, &roles, &request)?;
/// let options = SearchOptions::new(Algorithm::Incognito, 1);
/// let found = solve(&problem, options, &Budget::unlimited()).recoding;
/// let generalization = found.generalization().expect("incognito recodes globally");
/// let text = recoding_file::text(problem.attributes(), generalization);
/// assert!(text.contains("[columns.age]") && recoding_file::parse(&text, &request).is_ok());
/// # Ok::<(), lookalike::Error>(())
/// ```
pub fn text(attributes: &[Attribute], found: &Generalization) -> String {
    let column = |(attribute, blocks): (&Attribute, &Blocks)| {
        (attribute.name.clone(), column(attribute, blocks))
    };
    let file = RecodingFile {
        version: VERSION,
        columns: attributes.iter().zip(&found.attributes).map(column).collect(),
    };
    format!("{HEAD}{}", toml::to_string(&file).expect("texts, numbers and lists of them are TOML"))
}

fn column(attribute: &Attribute, blocks: &Blocks) -> FileColumn {
    let all: Vec<FileBlock> = match &attribute.domain {
        Domain::Tree(tree) => {
            let mut values = vec![Vec::new(); blocks.blocks.len()];
            for (code, block) in (0..).zip(&blocks.of_code) {
                block.iter().for_each(|&block| {
                    values[block as usize].push(tree.leaf_label(code).to_string())
                });
            }
            blocks
                .blocks
                .iter()
                .zip(values)
                .map(|(block, values)| FileBlock { values: Some(values), ..bare(block) })
                .collect()
        }
        Domain::Ordered(ordered) => {
            let (values, texts) = (ordered.values(), ordered.texts());
            let ends = |block: &ValueBlock| {
                let missing = block.ends.hi as usize == values.len();
                let last = block
                    .ends
                    .hi
                    .checked_sub(u32::from(missing))
                    .filter(|&last| last >= block.ends.lo);
                let text = |code: Code| texts[code as usize].clone();
                FileBlock {
                    from: last.map(|_| text(block.ends.lo)),
                    to: last.map(text),
                    missing,
                    ..bare(block)
                }
            };
            blocks.blocks.iter().map(ends).collect()
        }
    };
    let levels = blocks.blocks.first().map_or(0, |block| block.levels_up.1);
    FileColumn { kind: kind(attribute), levels, blocks: all }
}

/// A block without its values.
fn bare(block: &ValueBlock) -> FileBlock {
    let (show, loss, risen) = (block.label.clone(), block.loss, block.levels_up.0);
    FileBlock { show, values: None, from: None, to: None, missing: false, loss, risen }
}

fn kind(attribute: &Attribute) -> Kind {
    match &attribute.domain {
        Domain::Tree(_) => Kind::Categorical,
        Domain::Ordered(ordered) => match ordered.unit() {
            Unit::Whole | Unit::Decimal => Kind::Numeric,
            Unit::Day | Unit::Second => Kind::Date,
            Unit::Place => Kind::Ordinal,
        },
    }
}

/// Reads a recoding file and checks it against a request.
///
/// # Example
/// ```
/// # use lookalike::{Request, release::recoding_file};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("recoding.toml");
/// # let text = "version = 1\n[columns.age]\nkind = 'numeric'\nlevels = 1\n\
/// #     [[columns.age.blocks]]\nshow = '[20-39]'\nfrom = '20'\nto = '39'\nloss = 1\nrisen = 1";
/// # std::fs::write(&path, text).unwrap();
/// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// assert!(recoding_file::read(&path, &request).is_ok());
/// let other = Request::parse("k = 2\ncolumns.zip.role = 'quasi'")?;
/// assert!(recoding_file::read(&path, &other).is_err());
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// As [`parse`], and when the file cannot be read.
pub fn read(path: &Path, request: &Request) -> Result<RecodingFile> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::io(path, source))?;
    parse(&text, request).map_err(|error| error.at_file(path))
}

/// Reads the text of a recoding file and checks it against a request.
///
/// # Errors
/// When it is no recoding file of a known version, its blocks overlap or are incomplete, or its
/// columns are not the quasi-identifiers of the request.
pub fn parse(text: &str, request: &Request) -> Result<RecodingFile> {
    /// The part that files of every version have.
    #[derive(Deserialize)]
    struct Any {
        version: Option<u32>,
    }
    // The parser's own message would quote the line.
    let fault = |error: &toml::de::Error| {
        let line = |at: usize| {
            text.as_bytes()[..at.min(text.len())].iter().filter(|&&byte| byte == b'\n').count() + 1
        };
        let line = error.span().map_or(0, |span| line(span.start));
        let why = "not as in a recoding file (docs/configuration.md has the form)";
        Error::request("bad-recoding-file", why).at_line(line as u64).hint(Hint::MakeRecoding)
    };
    match toml::from_str::<Any>(text).map_err(|error| fault(&error))?.version {
        Some(VERSION) => {}
        None => {
            return Err(Error::request(
                "not-a-recoding-file",
                "no recoding file: it has no version",
            ));
        }
        Some(version) => {
            return Err(Error::request(
                "unknown-version",
                format!(
                    "recoding file version {version} is unknown; this program knows version \
                     {VERSION}"
                ),
            ));
        }
    }
    let file: RecodingFile = toml::from_str(text).map_err(|error| fault(&error))?;
    let quasi = |line: &ColumnRequest| line.role == Role::Quasi;
    let asked: BTreeSet<&String> =
        request.columns.iter().filter(|(_, line)| quasi(line)).map(|(name, _)| name).collect();
    let known: BTreeSet<&String> = file.columns.keys().collect();
    if asked != known {
        let names =
            |names: BTreeSet<&String>| list(&names.into_iter().cloned().collect::<Vec<_>>());
        return Err(Error::request(
            "recoding-columns-differ",
            format!(
                "it recodes {} and the quasi-identifiers are {}: they must be the same columns",
                names(known),
                names(asked)
            ),
        ));
    }
    for (name, column) in &file.columns {
        column.check(request.column(name)).map_err(|why| {
            Error::request("bad-recoding-file", format!("column `{name}`{why}")).about_column(name)
        })?;
    }
    Ok(file)
}

impl FileColumn {
    /// Checks that blocks are complete and do not overlap; else the fault and the block.
    fn check(&self, line: Option<&ColumnRequest>) -> std::result::Result<(), String> {
        if self.blocks.is_empty() {
            return Err(" has no blocks".into());
        }
        let (mut labels, mut values, mut missing) = (BTreeSet::new(), BTreeSet::new(), 0);
        for (number, block) in (1..).zip(&self.blocks) {
            let bad = |why: &str| Err(format!(", block {number}: {why}"));
            match (self.kind, &block.values, &block.from, &block.to) {
                (Kind::Categorical, Some(values), None, None)
                    if !values.is_empty() && !block.missing => {}
                (Kind::Categorical, ..) => {
                    return bad("categories have a list of values, not from, to or missing");
                }
                (_, None, Some(_), Some(_)) => {}
                (_, None, None, None) if block.missing => {}
                _ => return bad("it needs from and to, or missing = true"),
            }
            if !(0.0..=1.0).contains(&block.loss) {
                return bad("loss lies between 0 and 1");
            }
            if block.risen > self.levels {
                return bad("risen is at most the levels of the column");
            }
            if !labels.insert(&block.show) {
                return bad("an earlier block has the same label");
            }
            if !block.values.iter().flatten().all(|value| values.insert(value)) {
                return bad("it has a value twice, or one of an earlier block");
            }
            missing += usize::from(block.missing);
        }
        if missing > 1 {
            return Err(": two blocks have the missing value".into());
        }
        self.spans(line).map(drop)
    }

    /// The ends of the ordered blocks as numbers, ascending, each with the block's place.
    fn spans(
        &self,
        line: Option<&ColumnRequest>,
    ) -> std::result::Result<Vec<(f64, f64, usize)>, String> {
        let order = line.and_then(|line| line.order.as_deref());
        let place = |text: &str| match self.kind {
            Kind::Numeric => number(text),
            Kind::Date => seconds(text),
            Kind::Ordinal => order?
                .iter()
                .position(|label| label == text)
                .and_then(|at| u32::try_from(at).ok())
                .map(f64::from),
            Kind::Categorical => None,
        };
        let what = match self.kind {
            Kind::Date => "a date",
            Kind::Ordinal => "a label of the column's order",
            _ => "a number",
        };
        let mut spans = Vec::new();
        for (at, block) in self.blocks.iter().enumerate() {
            let (Some(from), Some(to)) = (&block.from, &block.to) else { continue };
            match (place(from), place(to)) {
                (Some(from), Some(to)) if from <= to => spans.push((from, to, at)),
                (Some(_), Some(_)) => {
                    return Err(format!(", block {}: from lies above to", at + 1));
                }
                _ => return Err(format!(", block {}: from or to is not {what}", at + 1)),
            }
        }
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        match spans.windows(2).find(|pair| pair[1].0 <= pair[0].1) {
            Some(pair) => Err(format!(": blocks {} and {} overlap", pair[0].2 + 1, pair[1].2 + 1)),
            None => Ok(spans),
        }
    }
}

impl RecodingFile {
    /// Sets the kinds of columns in the request where it leaves them open: a few new rows may look
    /// like another kind.
    pub fn settle_kinds(&self, request: &mut Request) {
        for (name, column) in &self.columns {
            let line = request.columns.get_mut(name);
            let open = |line: &&mut ColumnRequest| {
                let hierarchy = line.hierarchy.as_ref();
                line.kind.is_none()
                    && line.order.is_none()
                    && hierarchy.is_none_or(HierarchySpec::lists_values)
            };
            line.filter(open).into_iter().for_each(|line| line.kind = Some(column.kind));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::scheme::Shape;
    use crate::problem::{Problem, partition};
    use crate::rng::Rng;
    use crate::table::Table;
    use crate::testing;

    /// Every kind of column, missing cells, a hierarchy with a leaf that never occurs.
    fn table(rng: &mut Rng, rows: u64) -> Table {
        let mut text = "age,size,day,edu,city,work\n".to_string();
        let mut pick = |from: &[&str]| {
            from[usize::try_from(rng.below(from.len() as u64)).unwrap()].to_string()
        };
        for row in 0..rows {
            let age = if row % 7 == 3 {
                String::new()
            } else {
                format!("{}{}", pick(&["-", "", "2"]), pick(&["1", "2", "3", "8"]))
            };
            let size = format!("1.{}", pick(&["5", "55", "6", "70"]));
            let day = format!(
                "2024-03-{}{}",
                pick(&["10", "11", "17", "20"]),
                pick(&["", "", "T12:30:00Z"])
            );
            let (edu, city) = (
                pick(&["low", "mid", "high", ""]),
                pick(&["Ulm", "Bonn", "a, b", "\"\"x\"\"", " {y}", "canary", ""]),
            );
            let work = pick(&["State", "Local", "Private", "Inc", "Not-inc"]);
            text += &format!("{age},{size},{day},{edu},\"{city}\",{work}\n");
        }
        testing::table(&text)
    }

    const WORK: &str = "State;Government;*\nLocal;Government;*\nFederal;Government;*\n\
        Private;Private;*\n\
                        Inc;Self-employed;*\nNot-inc;Self-employed;*\nNever;Unemployed;*\n";

    fn toml(hierarchy: &Path) -> String {
        let plain = ["age", "size", "day", "city"]
            .map(|name| format!("{name} = {{ role = 'quasi' }}\n"))
            .concat();
        let edu = "edu = { role = 'quasi', order = ['none', 'low', 'mid', 'high'] }\n";
        format!(
            "k = 1\n[columns]\n{plain}{edu}work = {{ role = 'quasi', hierarchy = '{}' }}\n",
            hierarchy.display()
        )
    }

    /// Any sets of categories, any intervals of values on a line.
    fn random(problem: &Problem, rng: &mut Rng) -> Generalization {
        let blocks = |(at, attribute): (usize, &Attribute)| {
            let mut present: Vec<Code> =
                (0u32..).take(problem.tuples()).map(|tuple| problem.code(at, tuple)).collect();
            present.sort_unstable();
            present.dedup();
            let shape = Shape::new(attribute, &present);
            let mut least: Vec<u32> = Vec::new();
            for atom in (0u32..).take(present.len()) {
                let joined = match &attribute.domain {
                    _ if atom == 0 || rng.below(2) == 0 => atom,
                    Domain::Ordered(_) => least[atom as usize - 1],
                    Domain::Tree(_) => least[usize::try_from(rng.below(u64::from(atom))).unwrap()],
                };
                least.push(joined);
            }
            Blocks::new(attribute, &shape, &least)
        };
        Generalization { attributes: problem.attributes().iter().enumerate().map(blocks).collect() }
    }

    #[test]
    fn a_recoding_read_back_publishes_the_table_in_the_same_way() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("work.csv");
        std::fs::write(&file, WORK).unwrap();
        for seed in 0..60 {
            let mut rng = Rng::new(seed);
            let table = table(&mut rng, 80);
            let (roles, request) = testing::request(&table, &toml(&file));
            let problem = testing::problem_of(&table, &roles, &request).unwrap();
            let found = random(&problem, &mut rng);
            let text = text(problem.attributes(), &found);
            let read = parse(&text, &request)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
            let applied = apply(&read, &problem, &request)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
            assert_eq!(applied.generalization(), Some(&found), "seed {seed}");
        }
    }

    #[test]
    fn a_damaged_file_is_refused_or_applied_and_is_never_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("work.csv");
        std::fs::write(&file, WORK).unwrap();
        let (mut refused, mut done) = (0, 0);
        for seed in 0..400 {
            let mut rng = Rng::new(seed);
            let table = table(&mut rng, 60);
            let (roles, request) = testing::request(&table, &toml(&file));
            let problem = testing::problem_of(&table, &roles, &request).unwrap();
            let good = text(problem.attributes(), &random(&problem, &mut rng));
            let mut lines: Vec<String> = good.lines().map(String::from).collect();
            for _ in 0..=rng.below(2) {
                let at = |rng: &mut Rng| usize::try_from(rng.below(lines.len() as u64)).unwrap();
                let (one, other) = (at(&mut rng), at(&mut rng));
                match rng.below(4) {
                    0 => drop(lines.remove(one)),
                    1 => lines.swap(one, other),
                    2 => lines[one] = lines[other].clone(),
                    _ => {
                        lines[one] = lines[one].replace(
                            ['1', 'a', '"'],
                            ["2", "", "\"canary"][usize::try_from(rng.below(3)).unwrap()],
                        )
                    }
                }
            }
            match parse(&lines.join("\n"), &request)
                .and_then(|read| apply(&read, &problem, &request))
            {
                Ok(recoding) => {
                    done += 1;
                    assert_eq!(partition::rows(recoding.suppressed()), 0, "k = 1");
                }
                Err(error) => {
                    refused += 1;
                    let message = error.to_string();
                    assert!(
                        !message.contains("canary")
                            && !message.contains("Ulm")
                            && !message.contains("Government"),
                        "seed {seed}: {message}"
                    );
                }
            }
        }
        assert!(refused > 100 && done > 20, "{refused} refused, {done} done");
    }

    const GOOD: &str = "version = 1\n[columns.age]\nkind = \"numeric\"\nlevels = 1\n\
        [[columns.age.blocks]]\nshow = \"[1-5]\"\nfrom = \"1\"\nto = \"5\"\nloss = 0.5\nrisen = 1\n\
        [[columns.age.blocks]]\nshow = \"\"\nmissing = true\nloss = 0\nrisen = 0\n\
        [[columns.age.blocks]]\nshow = \"[8-9]\"\nfrom = \"8\"\nto = \"9\"\nloss = 0.1\nrisen = 1\n\
        [columns.sex]\nkind = \"categorical\"\nlevels = 1\n\
        [[columns.sex.blocks]]\nshow = \"{f, m}\"\nvalues = [\"f\", \"m\"]\nloss = 1\nrisen = 1\n\
        [[columns.sex.blocks]]\nshow = \"d\"\nvalues = [\"d\"]\nloss = 0\nrisen = 0\n";
    const REQUEST: &str = "k = 2\ncolumns = { age = { role = 'quasi' }, sex = { role = 'quasi' } }";

    #[test]
    fn blocks_must_be_complete_and_must_not_overlap() {
        let request = Request::parse(REQUEST).unwrap();
        parse(GOOD, &request).unwrap();
        for (from, to, expected) in [
            ("version = 1\n", "", "it has no version"),
            ("version = 1", "version = 2", "version 2 is unknown"),
            ("version = 1", "version = \"canary\"", "line 1: not as in a recoding file"),
            ("loss = 0.1", "loss = 0.1\nextra = 1", "line 21: not as in"),
            ("[columns.sex]", "[columns.canary", "line 22: not as in"),
            (
                "columns.sex",
                "columns.sexes",
                "it recodes `age`, `sexes` and the quasi-identifiers are `age`, `sex`",
            ),
            ("from = \"8\"", "from = \"5\"", "column `age`: blocks 1 and 3 overlap"),
            ("from = \"8\"", "from = \"10\"", "column `age`, block 3: from lies above to"),
            (
                "from = \"8\"",
                "from = \"canary\"",
                "column `age`, block 3: from or to is not a number",
            ),
            ("from = \"8\"\n", "", "column `age`, block 3: it needs from and to"),
            ("from = \"8\"\nto = \"9\"\n", "", "column `age`, block 3: it needs from and to"),
            (
                "from = \"8\"\nto = \"9\"\n",
                "missing = true\n",
                "column `age`: two blocks have the missing value",
            ),
            (
                "from = \"8\"\nto = \"9\"\n",
                "values = [\"8\"]\n",
                "column `age`, block 3: it needs from and to",
            ),
            (
                "values = [\"d\"]\n",
                "values = [\"d\", \"m\"]\n",
                "column `sex`, block 2: it has a value twice",
            ),
            (
                "values = [\"d\"]\n",
                "values = []\n",
                "column `sex`, block 2: categories have a list of values",
            ),
            (
                "values = [\"d\"]\n",
                "missing = true\n",
                "column `sex`, block 2: categories have a list of values",
            ),
            (
                "show = \"d\"",
                "show = \"{f, m}\"",
                "column `sex`, block 2: an earlier block has the same label",
            ),
            ("loss = 0.5", "loss = nan", "column `age`, block 1: loss lies between"),
            ("loss = 0.5", "loss = 1.5", "column `age`, block 1: loss lies between"),
            (
                "loss = 0.5\nrisen = 1",
                "loss = 0.5\nrisen = 2",
                "column `age`, block 1: risen is at most",
            ),
            (
                "kind = \"numeric\"",
                "kind = \"ordinal\"",
                "column `age`, block 1: from or to is not a label of the column's order",
            ),
        ] {
            assert!(GOOD.contains(from), "{from}");
            let error = parse(&GOOD.replace(from, to), &request).unwrap_err();
            assert!(matches!(error.kind(), crate::ErrorKind::Request));
            let error = error.to_string();
            assert!(
                error.contains(expected)
                    && !error.contains("canary\"")
                    && !error.contains("canary\n"),
                "{to}: {error}"
            );
        }
        let empty = "version = 1\n[columns.age]\nkind = \"numeric\"\nlevels = 1\nblocks = []\n";
        let request = Request::parse("k = 2\ncolumns = { age = { role = 'quasi' } }").unwrap();
        assert_eq!(parse(empty, &request).unwrap_err().to_string(), "column `age` has no blocks");
    }

    #[test]
    fn values_inside_blocks_are_covered_and_gaps_are_reported_by_their_first_row() {
        let applied = |ages: &[&str], edit: &dyn Fn(&str) -> String| {
            let rows: String = ages.iter().map(|age| format!("{age},f\n{age},m\n")).collect();
            let mut request = Request::parse(REQUEST).unwrap();
            let file = parse(&edit(GOOD), &request)?;
            file.settle_kinds(&mut request);
            let table = testing::table(&format!("age,sex\n{rows}"));
            let roles = request.roles(&["age".into(), "sex".into()])?;
            apply(&file, &testing::problem_of(&table, &roles, &request)?, &request)
        };
        let same = |text: &str| text.to_string();
        let found = applied(&["2.5", "9", "", "5.0"], &same).unwrap();
        let labels = &found.generalization().unwrap().attributes[0].blocks;
        assert_eq!(
            labels.iter().map(|block| block.label.as_str()).collect::<Vec<_>>(),
            ["[1-5]", "[8-9]", ""]
        );
        assert!(applied(&["", ""], &same).is_ok(), "the file says that it is numeric");
        for outside in ["0.9", "5.5", "7", "9.01"] {
            let message = applied(&["9", "1", outside], &same).unwrap_err().to_string();
            assert!(
                message.starts_with("column `age`, data row 5: no block")
                    && !message.contains(outside),
                "{message}"
            );
        }
        // Labels that do not cover their values.
        for (from, to, expected) in [
            (
                "show = \"[8-9]\"",
                "show = \"[7-8]\"",
                "column `age`, block 3 of the recoding file: its label does not cover",
            ),
            ("show = \"[8-9]\"", "show = \"old\"", "column `age`, block 3"),
            ("show = \"\"", "show = \"none\"", "column `age`, block 2"),
            ("show = \"{f, m}\"", "show = \"f\"", "column `sex`, block 1"),
        ] {
            let error =
                applied(&["9", ""], &|text| text.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
