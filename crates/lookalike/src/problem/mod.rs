//! The one door: a table, roles and rules become coded distinct tuples, or an error. Behind it
//! nothing can be wrong.
//!
//! Rows with equal quasi-identifiers (and equal sensitive values, where a rule looks at them) are
//! interchangeable, so everything behind the door speaks of distinct tuples with counts.

pub mod bound;
pub mod partition;
pub mod privacy;
pub mod recoding;
pub(crate) mod sensitive;
mod tuples;

use arrow_schema::DataType;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::codes::{Code, CodeRange, Codes, RowId};
use crate::domain::attribute::{ANY, Attribute, Domain, Unit};
use crate::domain::encode::{self, ColumnSpec};
use crate::domain::scheme::Scheme;
use crate::error::{Error, Result};
use crate::problem::partition::Piece;
use crate::problem::privacy::{Privacy, Tally};
use crate::problem::sensitive::SensitiveColumns;
use crate::problem::tuples::{Recoded, distinct, renumbered};
use crate::request::ratio::Ratio;
use crate::request::{ModelSpec, Publish, Request, Roles, RuleSpec};
use crate::rng::{Key, TRIMMING};
use crate::table::{Coded, Table, Treatment};

/// A table that is ready to be anonymized: every rule can be met.
#[derive(Debug)]
pub struct Problem {
    attributes: Vec<Attribute>,
    /// One an attribute, over distinct tuples.
    cells: Vec<Codes>,
    /// One a sensitive column that a rule looks at, over distinct tuples.
    sensitive: Vec<Codes>,
    /// How many values each of those has.
    domains: Vec<usize>,
    /// Row numbers, tuple by tuple; tuple t has `rows[starts[t]..starts[t + 1]]`.
    rows: Vec<RowId>,
    starts: Vec<u32>,
    stages: Vec<Stage>,
    /// One an attribute: which partitions of its values a global recoding may choose.
    schemes: Vec<Scheme>,
    /// Rows that must go before any rule can be met; within the allowance.
    mandatory: Vec<Piece>,
    allowance: u64,
    warnings: Vec<String>,
}

/// Rules on some of the attributes. Classes of a stage are cut from the classes of the stage
/// before, whose attributes they show as that stage left them.
///
/// That is what makes rules on different columns meet: a class of the first stage holds all later
/// rules too (so the later stages can always be solved), and later stages never touch its
/// attributes (so its rule stays met).
#[derive(Debug)]
pub(crate) struct Stage {
    /// The attributes this stage cuts along; no earlier stage has them.
    pub(crate) attributes: Vec<usize>,
    /// What its classes must hold: its own rules and those of all later stages.
    pub(crate) privacy: Privacy,
}

impl Problem {
    /// Checks everything and codes the table.
    ///
    /// # Errors
    /// [`Data`](crate::ErrorKind::Data) when a cell does not fit its column's kind or hierarchy,
    /// [`Request`](crate::ErrorKind::Request) when the request makes no sense,
    /// [`Infeasible`](crate::ErrorKind::Infeasible) when no release can meet the rules.
    pub fn new(table: &Table, roles: &Roles, request: &Request) -> Result<Problem> {
        if table.rows() == 0 {
            return Err(Error::data("the table has no rows: there is nothing to release"));
        }
        table.check_header()?;
        check_bounds(table, roles, request)?;
        if request.missing.iter().any(|marker| marker.trim() == ANY) {
            return Err(Error::request(
                "`*` cannot mean missing: it is what is published for any value",
            ));
        }
        let rules = request.rules(roles)?;
        let suppress = request.suppress()?;
        let coded: Vec<(&String, &Coded)> =
            roles.quasi.iter().map(|name| (name, table.coded(name))).collect();
        let encoded: Vec<(Attribute, Vec<Code>)> = coded
            .par_iter()
            .map(|(name, coded)| encode::attribute(ColumnSpec::new(name, request), coded))
            .collect::<Result<_>>()?;
        let (mut attributes, maps): (Vec<Attribute>, Vec<Vec<Code>>) = encoded.into_iter().unzip();
        attributes.iter_mut().for_each(|attribute| keep_zone(attribute, table));
        let schemes =
            attributes.iter().map(|attribute| scheme(attribute, request)).collect::<Result<_>>()?;
        let mut warnings = unsnapped(&attributes, request);
        let watched = SensitiveColumns::new(table, roles, &rules, request, &mut warnings)?;

        let mut columns: Vec<Recoded> =
            coded.iter().zip(&maps).map(|((_, coded), map)| Recoded::new(coded, map)).collect();
        columns.extend(
            watched
                .columns
                .iter()
                .map(|column| Recoded::new(table.coded(&column.name), &column.map)),
        );
        // What ring promises holds only if nobody can repeat what is drawn.
        let key = if request.non_homogeneous { Key::from_system() } else { Key::of(request.seed) };
        let (rows, starts) = distinct(&columns, table.rows());
        let (rows, starts) = match columns.split_at(attributes.len()) {
            (_, []) => (rows, starts),
            // The tests of this crate number tuples by hand.
            _ if cfg!(test) && request.seed.is_none() => (rows, starts),
            (quasi, _) => renumbered(quasi, &rows, &starts, key),
        };
        let first = |column: &Recoded| -> Codes {
            starts[..starts.len() - 1]
                .iter()
                .map(|&start| column.code(rows[start as usize] as usize))
                .collect()
        };
        let mut cells: Vec<Codes> = columns.par_iter().map(first).collect();
        let sensitive = cells.split_off(attributes.len());

        let mut problem = Problem {
            attributes,
            cells,
            sensitive,
            domains: watched.columns.iter().map(|column| column.values).collect(),
            rows,
            starts,
            stages: Vec::new(),
            schemes,
            mandatory: Vec::new(),
            allowance: allowance(suppress, table.rows()),
            warnings,
        };
        problem.stages = problem.stages(&rules, &watched)?;
        problem.trim(&watched.names(), key)?;
        if problem.stages.len() > 1 && problem.allowance > 0 {
            problem.warnings.push(
                "with rules on several column sets, rows are left out only where no release could meet the rules otherwise"
                    .into(),
            );
        }
        Ok(problem)
    }

    /// The quasi-identifiers, in the table's order.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// For each quasi-identifier, which partitions of its values a global recoding may choose.
    pub fn schemes(&self) -> &[Scheme] {
        &self.schemes
    }

    /// How many distinct tuples there are.
    pub fn tuples(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many rows the table has.
    pub fn row_count(&self) -> u64 {
        self.rows.len() as u64
    }

    /// The code of a tuple on an attribute.
    #[inline]
    pub fn code(&self, attribute: usize, tuple: u32) -> Code {
        self.cells[attribute].get(tuple as usize)
    }

    /// How many rows a tuple has.
    pub fn count(&self, tuple: u32) -> u32 {
        self.starts[tuple as usize + 1] - self.starts[tuple as usize]
    }

    /// The rows of a tuple, rising.
    pub fn rows_of(&self, tuple: u32) -> &[RowId] {
        &self.rows[self.starts[tuple as usize] as usize..self.starts[tuple as usize + 1] as usize]
    }

    /// How many rows may be left out.
    pub fn allowance(&self) -> u64 {
        self.allowance
    }

    /// What the user should know although it is no error.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// How many bytes the coded table takes.
    pub fn bytes(&self) -> usize {
        let codes: usize = self.cells.iter().chain(&self.sensitive).map(Codes::bytes).sum();
        codes + 4 * (self.rows.len() + self.starts.len())
    }

    /// The greatest k asked for on all quasi-identifiers together.
    pub fn k(&self) -> u64 {
        self.stages.last().map_or(1, |stage| stage.privacy.k())
    }

    /// The attributes whose classes were settled when this one's were: those of its stage and of
    /// all before.
    pub(crate) fn decided_with(&self, attribute: usize) -> Vec<usize> {
        let stage = self
            .stages
            .iter()
            .position(|stage| stage.attributes.contains(&attribute))
            .expect("every attribute has a stage");
        self.stages[..=stage].iter().flat_map(|stage| stage.attributes.iter().copied()).collect()
    }

    pub(crate) fn stages_in_order(&self) -> &[Stage] {
        &self.stages
    }

    /// Rows that must go before any rule can be met.
    pub(crate) fn mandatory(&self) -> &[Piece] {
        &self.mandatory
    }

    /// All tuples with all their rows, less some pieces.
    pub(crate) fn pieces_without(&self, gone: &[Piece]) -> Vec<Piece> {
        let mut left: Vec<u32> =
            (0..self.tuples()).map(|tuple| self.starts[tuple + 1] - self.starts[tuple]).collect();
        for piece in gone {
            left[piece.tuple as usize] -= piece.count;
        }
        (0u32..)
            .zip(left)
            .filter(|&(_, count)| count > 0)
            .map(|(tuple, count)| Piece { tuple, count })
            .collect()
    }

    /// An empty tally for classes of this problem.
    pub(crate) fn tally(&self) -> Tally {
        Tally::new(&self.domains)
    }

    /// Counts pieces into a tally.
    pub(crate) fn count_into(&self, tally: &mut Tally, pieces: &[Piece]) {
        let mut codes = vec![0; self.sensitive.len()];
        for piece in pieces {
            self.sensitive_codes(piece.tuple, &mut codes);
            tally.add(&codes, piece.count);
        }
    }

    /// How many sensitive columns the rules look at.
    pub(crate) fn sensitive_columns(&self) -> usize {
        self.sensitive.len()
    }

    /// The sensitive codes of a tuple.
    pub(crate) fn sensitive_codes(&self, tuple: u32, codes: &mut [Code]) {
        for (code, column) in codes.iter_mut().zip(&self.sensitive) {
            *code = column.get(tuple as usize);
        }
    }

    /// The exact range of some pieces on every attribute.
    pub(crate) fn ranges(&self, pieces: &[Piece]) -> Vec<CodeRange> {
        let mut ranges: Vec<CodeRange> = (0..self.attributes.len())
            .map(|at| CodeRange::one(self.code(at, pieces[0].tuple)))
            .collect();
        for piece in &pieces[1..] {
            for (at, range) in ranges.iter_mut().enumerate() {
                *range = range.join(CodeRange::one(self.code(at, piece.tuple)));
            }
        }
        ranges
    }

    /// Chains the rules' column sets, smallest first. A set that does not contain the one before
    /// joins it: a rule that holds on classes of more columns holds on classes of fewer (they are
    /// unions), so joining is safe, only dearer.
    fn stages(&self, rules: &[RuleSpec], watched: &SensitiveColumns) -> Result<Vec<Stage>> {
        let index = |name: &String| {
            self.attributes
                .iter()
                .position(|attribute| attribute.name == *name)
                .expect("a quasi-identifier")
        };
        let mut sets: Vec<(Vec<usize>, Vec<&RuleSpec>)> = Vec::new();
        // k on fewer columns follows from as much k on more of them.
        let implied = |rule: &RuleSpec| {
            let follows_from = |other: &RuleSpec| match (&rule.model, &other.model) {
                (ModelSpec::K(k), ModelSpec::K(more)) => {
                    more >= k
                        && other.columns.len() > rule.columns.len()
                        && rule.columns.iter().all(|name| other.columns.contains(name))
                }
                _ => false,
            };
            rules.iter().any(follows_from)
        };
        let mut by_size: Vec<(Vec<usize>, &RuleSpec)> = rules
            .iter()
            .filter(|rule| !implied(rule))
            .map(|rule| {
                let mut columns: Vec<usize> = rule.columns.iter().map(index).collect();
                columns.sort_unstable();
                columns.dedup();
                (columns, rule)
            })
            .collect();
        by_size.sort_by_key(|(columns, _)| columns.len());
        for (columns, rule) in by_size {
            match sets.last_mut() {
                Some((last, rules))
                    if *last == columns || !last.iter().all(|at| columns.contains(at)) =>
                {
                    last.extend(columns);
                    last.sort_unstable();
                    last.dedup();
                    rules.push(rule);
                }
                _ => sets.push((columns, vec![rule])),
            }
        }
        let totals = self.totals();
        let mut stages = Vec::new();
        for at in 0..sets.len() {
            let earlier: &[usize] = if at == 0 { &[] } else { &sets[at - 1].0 };
            let attributes =
                sets[at].0.iter().copied().filter(|column| !earlier.contains(column)).collect();
            let own_and_later = sets[at..].iter().flat_map(|(_, rules)| rules.iter());
            let models =
                own_and_later.map(|rule| watched.model(&rule.model)).collect::<Result<_>>()?;
            stages.push(Stage { attributes, privacy: Privacy::new(models, totals.clone()) });
        }
        Ok(stages)
    }

    /// How often each sensitive value occurs in the whole table.
    fn totals(&self) -> Vec<Vec<u64>> {
        let mut totals: Vec<Vec<u64>> =
            self.domains.iter().map(|&values| vec![0; values]).collect();
        for tuple in 0..self.tuples() {
            let count = u64::from(self.starts[tuple + 1] - self.starts[tuple]);
            for (total, column) in totals.iter_mut().zip(&self.sensitive) {
                total[column.get(tuple) as usize] += count;
            }
        }
        totals
    }

    /// Decides feasibility: without suppression the whole table as one class must hold. With it, as
    /// few rows as possible go, those with an over-frequent sensitive value, rarest
    /// quasi-identifiers first, of equally rare ones any, at random.
    fn trim(&mut self, names: &[String], key: Key) -> Result<()> {
        let whole_pieces = self.pieces_without(&[]);
        let mut whole = self.tally();
        self.count_into(&mut whole, &whole_pieces);
        let privacy = &self.stages[0].privacy;
        if privacy.holds(&whole) {
            return Ok(());
        }
        let cannot = privacy.nearest(&whole, names);
        let mut by_rarity: Vec<Piece> = whole_pieces;
        key.draws(TRIMMING).shuffle(&mut by_rarity);
        by_rarity.sort_by_key(|piece| piece.count);
        let mut codes = vec![0; self.sensitive.len()];
        let mut gone: FxHashMap<u32, u32> = FxHashMap::default();
        let mut dropped = 0;
        while let Some(excess) = privacy.excess(&whole) {
            let mut need = excess.rows;
            for piece in &by_rarity {
                let taken = gone.get(&piece.tuple).copied().unwrap_or(0);
                if need == 0
                    || self.sensitive[excess.column].get(piece.tuple as usize) != excess.code
                    || taken == piece.count
                {
                    continue;
                }
                let take = u32::try_from(need).unwrap_or(u32::MAX).min(piece.count - taken);
                self.sensitive_codes(piece.tuple, &mut codes);
                whole.remove(&codes, take);
                *gone.entry(piece.tuple).or_insert(0) += take;
                need -= u64::from(take);
                dropped += u64::from(take);
            }
        }
        if !privacy.holds(&whole) {
            return cannot;
        }
        if dropped > self.allowance {
            let why = cannot.err().map(|error| error.to_string()).unwrap_or_default();
            return Err(Error::infeasible(format!(
                "{why}; or allow {} suppressed",
                percent_up(dropped, self.row_count())
            )));
        }
        let mandatory = by_rarity.iter().filter_map(|piece| {
            gone.get(&piece.tuple).map(|&count| Piece { tuple: piece.tuple, count })
        });
        self.mandatory = mandatory.collect();
        Ok(())
    }
}

/// How the reader should treat each column of a table that is to be anonymized.
pub fn treatments(names: &[String], roles: &Roles) -> Vec<Treatment> {
    let treatment = |name: &String| match () {
        () if roles.quasi.contains(name) => Treatment::Code,
        () if roles.sensitive.contains(name) => Treatment::CodeAndCarry,
        () if roles.keep.contains(name) => Treatment::Carry,
        () => Treatment::Skip,
    };
    names.iter().map(treatment).collect()
}

/// More values than this fall into too many sets to choose from.
const MOST_IN_SETS: usize = 1_000;

/// What was asked for, or a scheme that fits the values.
fn scheme(attribute: &Attribute, request: &Request) -> Result<Scheme> {
    let name = &attribute.name;
    let asked =
        request.column(name).and_then(|line| line.scheme.as_ref()).or(request.scheme.as_ref());
    let asked = asked
        .map(|text| {
            text.parse::<Scheme>().map_err(|why| Error::request(format!("column `{name}`: {why}")))
        })
        .transpose()?;
    match (&attribute.domain, asked) {
        (Domain::Ordered(ordered), None) => {
            Ok(if ordered.steps.is_some() { Scheme::Ghs } else { Scheme::Ops })
        }
        (Domain::Tree(_), None) => Ok(Scheme::Ghs),
        (Domain::Ordered(ordered), Some(scheme)) => {
            let is_of_nodes = matches!(scheme, Scheme::Bhs | Scheme::Ghs);
            if ordered.published().is_some() && !is_of_nodes {
                return Err(Error::request(format!(
                    "column `{name}`: snap shows whole intervals of the hierarchy, which {scheme} would cut: take ghs or bhs, or leave out snap"
                )));
            }
            Ok(scheme.on_a_line())
        }
        (Domain::Tree(tree), Some(Scheme::Sps | Scheme::Gsps)) if tree.leaves() > MOST_IN_SETS => {
            Err(Error::request(format!(
                "column `{name}` has {} values, which fall into too many sets: take ghs, gops or ops for it",
                tree.leaves()
            )))
        }
        (Domain::Tree(_), Some(scheme)) => Ok(scheme),
    }
}

/// Bounds need names that are free, and say exactly what snapping hides.
fn check_bounds(table: &Table, roles: &Roles, request: &Request) -> Result<()> {
    if request.output.publish != Publish::Bounds {
        return Ok(());
    }
    if request.output.snap {
        return Err(Error::request("snap hides exact ends and bounds publishes them: choose one"));
    }
    for name in &roles.quasi {
        for taken in ["min", "max", "missing"].map(|end| format!("{name}_{end}")) {
            if table.column(&taken).is_some() || request.column(&taken).is_some() {
                return Err(Error::request(format!(
                    "bounds of column `{name}` need the name `{taken}`, which another column has: rename it"
                )));
            }
        }
    }
    Ok(())
}

/// Instants of a column whose type has a time zone are shown in it.
fn keep_zone(attribute: &mut Attribute, table: &Table) {
    let data_type = table.column(&attribute.name).map(|column| &column.data_type);
    if let (Some(DataType::Timestamp(_, Some(zone))), Domain::Ordered(ordered)) =
        (data_type, &mut attribute.domain)
    {
        ordered.zone = Some(zone.to_string());
    }
}

/// Numeric columns whose exact ends are published although intervals were asked for.
fn unsnapped(attributes: &[Attribute], request: &Request) -> Vec<String> {
    let exact = |attribute: &&Attribute| match &attribute.domain {
        Domain::Ordered(ordered) => {
            request.output.snap && ordered.steps.is_none() && ordered.unit != Unit::Place
        }
        Domain::Tree(_) => false,
    };
    let warning = |attribute: &Attribute| {
        let name = &attribute.name;
        format!(
            "snap: column `{name}` has no hierarchy, its exact ends are published (add --hierarchy {name}=intervals:5,10)"
        )
    };
    attributes.iter().filter(exact).map(warning).collect()
}

/// A share of the rows, rounded down: the limit is never exceeded.
fn allowance(share: Ratio, rows: usize) -> u64 {
    let allowed = u128::from(share.num()) * rows as u128 / u128::from(share.den());
    u64::try_from(allowed).expect("a share below 1 of a table")
}

/// A share as a percentage with two decimals, rounded up so that it suffices.
pub(crate) fn percent_up(part: u64, whole: u64) -> String {
    let hundredths = (u128::from(part) * 10_000).div_ceil(u128::from(whole));
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::search::solve;
    use crate::testing;
    use crate::{Algorithm, Budget, SearchOptions};

    fn refusal(text: &str, toml: &str) -> String {
        testing::problem(text, toml).unwrap_err().to_string()
    }

    #[test]
    fn grouping_by_packed_keys_equals_grouping_by_whole_rows() {
        let mut rng = Rng::new(5);
        // Twelve columns of up to a million values need 240 bits: several rounds of packing.
        for widths in [&[3_u64, 2][..], &[1_000_000; 12], &[1, 70_000, 1, 5]] {
            let rows = 300;
            let tables: Vec<Coded> = widths
                .iter()
                .map(|&width| {
                    let few = rng.below(width).max(1);
                    let codes = (0..rows)
                        .map(|_| u32::try_from(rng.below(2) * (few - 1)).unwrap())
                        .collect();
                    Coded::from_parts(vec![None; usize::try_from(few).unwrap()], Vec::new(), codes)
                })
                .collect();
            let maps: Vec<Vec<Code>> =
                tables.iter().map(|coded| (0u32..).take(coded.values().len()).collect()).collect();
            let columns: Vec<Recoded> =
                tables.iter().zip(&maps).map(|(coded, map)| Recoded::new(coded, map)).collect();
            let (found, starts) = distinct(&columns, rows);
            let key = |row: RowId| {
                columns.iter().map(|column| column.code(row as usize)).collect::<Vec<_>>()
            };
            let mut expected: Vec<RowId> = (0..u32::try_from(rows).unwrap()).collect();
            expected.sort_by_key(|&row| (key(row), row));
            assert_eq!(found, expected);
            let groups: Vec<&[RowId]> =
                starts.windows(2).map(|pair| &found[pair[0] as usize..pair[1] as usize]).collect();
            assert!(groups.iter().all(|group| group.iter().all(|&row| key(row) == key(group[0]))));
            assert!(groups.windows(2).all(|pair| key(pair[0][0]) < key(pair[1][0])));
        }
    }

    #[test]
    fn impossible_requests_name_the_nearest_possible_one() {
        let text = "age,ill\n1,flu\n2,flu\n3,hiv\n4,hiv\n";
        let with = |rule: &str| {
            format!(
                "k = 2\n[columns]\nage = {{ role = \"quasi\" }}\nill = {{ role = \"sensitive\", {rule} }}\n"
            )
        };
        let told =
            refusal(text, "k = 5\nrest = \"drop\"\ncolumns = { age = { role = \"quasi\" } }");
        assert!(told.contains("the largest feasible k is 4"), "{told}");
        assert!(refusal(text, &with("alpha = 0.4")).contains("0.5"));
        assert!(refusal(text, &with("l = 3")).contains('2'));
        assert!(refusal(text, &with("distinct = 3")).contains('2'));
        assert!(
            testing::problem(text, &with("alpha = 0.5")).is_ok(),
            "the least feasible alpha is feasible"
        );
    }

    #[test]
    fn suppression_makes_a_rule_reachable_with_as_few_rows_as_can_be() {
        let text = "age,ill\n1,flu\n2,flu\n3,flu\n3,flu\n4,hiv\n5,hiv\n";
        let toml = |share: &str| {
            format!(
                "k = 2\n[limits]\nsuppress = \"{share}\"\n[columns]\nage = {{ role = \"quasi\" }}\nill = {{ role = \"sensitive\", l = 2 }}\n"
            )
        };
        let told = refusal(text, &toml("20%"));
        assert!(told.contains("33.34%"), "{told}");
        let problem = testing::problem(text, &toml("34%")).unwrap();
        assert_eq!(crate::problem::partition::rows(problem.mandatory()), 2);
        let outcome =
            solve(&problem, SearchOptions::new(Algorithm::Mondrian, 1), &Budget::unlimited());
        assert_eq!(crate::problem::partition::rows(outcome.recoding.suppressed()), 2);
    }

    #[test]
    fn a_rule_on_some_columns_holds_on_what_those_columns_show() {
        for seed in 0..30 {
            let toml = "k = 3\nrest = \"drop\"\nrules = [{ k = 12, columns = [\"city\"] }, { k = 20, columns = [\"age\", \"city\"] }]\n\
                        [columns]\nage = { role = \"quasi\" }\nheight = { role = \"quasi\" }\ncity = { role = \"quasi\" }\n";
            let problem = testing::problem(&testing::random_table(seed, 80), toml).unwrap();
            for algorithm in Algorithm::homogeneous() {
                let recoding = solve(
                    &problem,
                    SearchOptions { steps: Some(50), ..SearchOptions::new(algorithm, 1) },
                    &Budget::unlimited(),
                )
                .recoding;
                for (columns, k) in [(&[0, 1, 2][..], 3), (&[2], 12), (&[0, 2], 20)] {
                    let mut shown: Vec<(Vec<CodeRange>, u64)> = Vec::new();
                    for (class, pieces) in recoding.classes().iter().enumerate() {
                        let box_of: Vec<CodeRange> =
                            columns.iter().map(|&at| recoding.shown(class)[at]).collect();
                        let rows = crate::problem::partition::rows(pieces);
                        match shown.iter_mut().find(|(known, _)| *known == box_of) {
                            Some((_, count)) => *count += rows,
                            None => shown.push((box_of, rows)),
                        }
                    }
                    assert!(
                        shown.iter().all(|&(_, rows)| rows >= k),
                        "seed {seed}, {algorithm}, columns {columns:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn cells_that_do_not_fit_their_column_are_named_by_row_only() {
        let numeric = "k = 2\ncolumns = { age = { role = \"quasi\", kind = \"numeric\" } }";
        let text = "age\n1\n2\nsecret\n4\n";
        let told = refusal(text, numeric);
        assert!(told.contains("column `age`, data row 3") && !told.contains("secret"), "{told}");
        let mostly =
            format!("age\n{}secret\n", (0..40).map(|n| format!("{n}\n")).collect::<String>());
        let told = refusal(&mostly, "k = 2\ncolumns = { age = { role = \"quasi\" } }");
        assert!(
            told.contains("looks numeric, but data row 41") && !told.contains("secret"),
            "{told}"
        );
        let told = refusal("v\na\n*\n", "k = 2\ncolumns = { v = { role = \"quasi\" } }");
        assert!(told.contains("data row 2"), "{told}");
        let told = refusal(
            "n\n9007199254740993\n9007199254740992\n",
            "k = 2\ncolumns = { n = { role = \"quasi\" } }",
        );
        assert!(told.contains("more digits"), "{told}");
    }

    #[test]
    fn postcodes_keep_their_zeros_and_spellings_of_a_number_are_one_value() {
        let kind = |text: &str| {
            testing::problem(text, "k = 1\ncolumns = { v = { role = \"quasi\" } }").unwrap()
        };
        let codes = kind("v\n02139\n10001\n");
        assert_eq!(codes.attributes()[0].label(CodeRange::one(0)), "02139");
        assert!(codes.attributes()[0].is_flat());
        let numbers = kind("v\n30.0\n30\n+30\n-2\n");
        assert_eq!(
            (numbers.tuples(), numbers.attributes()[0].label(CodeRange { lo: 0, hi: 1 })),
            (2, "[-2 .. 30]".into())
        );
        let dates = kind("v\n2024-03-17\n2023-01-01\n");
        assert_eq!(
            dates.attributes()[0].label(CodeRange { lo: 0, hi: 1 }),
            "[2023-01-01 .. 2024-03-17]"
        );
        let zones =
            kind("v\n2024-01-01T00:00:00+05:00\n2024-01-01T00:00:00+00:00\n2023-12-31T19:00:00Z\n");
        assert_eq!(zones.tuples(), 2, "an offset counts: the first and the last are one instant");
        assert_eq!(zones.attributes()[0].label(CodeRange::one(1)), "2024-01-01T00:00:00+00:00");
        let close = "v\n2024-01-01T00:00:00.000000001\n2024-01-01T00:00:00.000000002\n";
        assert!(
            refusal(close, "k = 1\ncolumns = { v = { role = \"quasi\" } }").contains("more digits")
        );
    }

    #[test]
    fn top_and_bottom_coding_hides_single_values_too() {
        let toml = "k = 1\n[output]\nsnap = true\n[columns]\n\
                    age = { role = \"quasi\", hierarchy = { intervals = [10], bottom = 20, top = 80 } }\n";
        let problem = testing::problem("age\n3\n35\n85\n113\n", toml).unwrap();
        let age = &problem.attributes()[0];
        let label = |code| age.label(age.cover(CodeRange::one(code)));
        assert_eq!([label(0), label(1), label(2), label(3)], ["<20", "35", ">=80", ">=80"]);
        assert!(age.loss(CodeRange::one(3)) > 0.0 && age.loss(CodeRange::one(1)).abs() < 1e-12);
    }

    #[test]
    fn different_ranges_never_share_a_label() {
        let text = "a,b,c,d\n1,-3,x,lo\n2,4.5,,mid\n,7,y-z,hi\n30,-1,z,\n";
        let toml = "k = 1\n[columns]\na = { role = \"quasi\" }\nb = { role = \"quasi\" }\nc = { role = \"quasi\" }\n\
                    d = { role = \"quasi\", order = [\"lo\", \"mid\", \"hi\"] }\n";
        for snap in ["", "[output]\nsnap = true\n"] {
            let toml = format!("{toml}{snap}").replace(
                "a = { role = \"quasi\" }",
                "a = { role = \"quasi\", hierarchy = { intervals = [5, 10] } }",
            );
            let problem = testing::problem(text, &toml).unwrap();
            for attribute in problem.attributes() {
                let codes = u32::try_from(attribute.codes()).unwrap();
                let mut labels: Vec<(String, CodeRange)> = Vec::new();
                for lo in 0..codes {
                    for hi in lo..codes {
                        let cover = attribute.cover(CodeRange { lo, hi });
                        labels.push((attribute.label(cover), cover));
                    }
                }
                labels.sort();
                labels.dedup();
                assert!(
                    labels.windows(2).all(|pair| pair[0].0 != pair[1].0),
                    "{}: {labels:?}",
                    attribute.name
                );
            }
        }
    }
}
