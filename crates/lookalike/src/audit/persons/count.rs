//! Persons of the classes: every rule and every measure with persons in the place of rows.
//!
//! The audit sees *pieces*: a row of the table, the person it is of, and how many rows of that
//! person it stands for. Pieces are sorted by class and person; what a person has in a class is
//! then a slice.
//!
//! # Complexity
//! Linear in pieces and classes for each set of columns, and a sort of the values of each person.

use crate::audit::ground_distance::GroundDistance;
use crate::audit::measure::{
    AtRisk, BANDS, Measures, Risk, SensitiveMeasures, SizeBand, THRESHOLDS, classes_of,
    requested_ground, rules_on,
};
use crate::audit::row_counts::RowCounts;
use crate::audit::rules::{ClassCounts, Rule, Sensitive};
use crate::audit::surface::Surface;
use crate::audit::{RuleVerdict, coded};
use crate::codes::RowId;
use crate::error::{Error, Result};
use crate::request::{Persons, Request, RuleSpec};
use crate::table::Table;

/// A person weighs this much, divided evenly among values or rows. It is divisible by every number
/// up to 16, so that most persons weigh exactly the same.
const WEIGHT: u64 = 720_720;

/// With more persons than this, sums of weights and of places would not fit into 128 bits.
const MOST_PERSONS: usize = 1 << 29;

/// Rows of one person that a row of the table stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) row: RowId,
    pub(super) person: u32,
    pub(super) count: u32,
}

/// The pieces of a table, and the number of rows of each person in the source.
#[derive(Debug)]
pub(super) struct Pieces {
    pub(super) all: Vec<Piece>,
    pub(super) rows_of: Vec<u64>,
}

/// Pieces sorted by class, then by person.
struct Grouped {
    starts: Vec<usize>,
    pieces: Vec<Piece>,
}

impl Grouped {
    /// `class` is the class of each row; `by_person` are the pieces sorted by person.
    fn new(by_person: &[Piece], class: &[u32], classes: usize) -> Grouped {
        let (starts, pieces) =
            stable_sort(by_person, classes, |piece| class[piece.row as usize] as usize);
        Grouped { starts, pieces }
    }

    /// For each class its pieces, those of a person side by side.
    fn classes(&self) -> impl Iterator<Item = &[Piece]> {
        self.starts.windows(2).map(|ends| &self.pieces[ends[0]..ends[1]])
    }

    /// Persons of each class.
    fn sizes(&self) -> Vec<u64> {
        self.classes().map(|class| persons(class).count() as u64).collect()
    }
}

/// The pieces of each person of a class.
fn persons(class: &[Piece]) -> impl Iterator<Item = &[Piece]> {
    class.chunk_by(|a, b| a.person == b.person)
}

/// Counting sort: where the pieces of each key begin, and the pieces in order.
fn stable_sort(
    pieces: &[Piece],
    keys: usize,
    key: impl Fn(&Piece) -> usize,
) -> (Vec<usize>, Vec<Piece>) {
    let mut starts = vec![0; keys + 1];
    pieces.iter().for_each(|piece| starts[key(piece) + 1] += 1);
    (0..keys).for_each(|at| starts[at + 1] += starts[at]);
    let mut next = starts.clone();
    let mut sorted = pieces.to_vec();
    for piece in pieces {
        let at = &mut next[key(piece)];
        sorted[*at] = *piece;
        *at += 1;
    }
    (starts, sorted)
}

/// The persons of the classes, before a reading was chosen.
pub(super) struct PersonClasses<'a> {
    table: &'a Table,
    surface: &'a Surface,
    /// Pieces by person.
    by_person: Vec<Piece>,
    /// The number of rows of each person in the source.
    pub(super) rows_of: Vec<u64>,
    grouped: Grouped,
    sizes: Vec<u64>,
    /// Persons with rows in several classes.
    pub(super) split: u64,
    /// For each person the size of the smallest class; 0 without a row.
    smallest: Vec<u64>,
    /// Persons with at least one row.
    pub(super) persons: u64,
}

impl<'a> PersonClasses<'a> {
    pub(super) fn new(
        table: &'a Table,
        surface: &'a Surface,
        pieces: Pieces,
    ) -> Result<PersonClasses<'a>> {
        let Pieces { all, rows_of } = pieces;
        let people = rows_of.len();
        if people > MOST_PERSONS {
            let reason = format!("the table has more than {MOST_PERSONS} persons");
            return Err(Error::data("too-many-rows", reason));
        }
        let (_, by_person) = stable_sort(&all, people, |piece| piece.person as usize);
        // The largest lists of the audit: two of them at a time.
        drop(all);
        let classes = classes_of(table, surface, &surface.roles.quasi)?;
        let grouped = Grouped::new(&by_person, &classes.of, classes.sizes.len());
        let sizes = grouped.sizes();
        let (mut smallest, mut classes_of) = (vec![0u64; people], vec![0u32; people]);
        for (class, &size) in grouped.classes().zip(&sizes) {
            for rows in persons(class) {
                let person = rows[0].person as usize;
                let least = &mut smallest[person];
                *least = if *least == 0 { size } else { size.min(*least) };
                classes_of[person] += 1;
            }
        }
        let split = classes_of.iter().filter(|&&classes| classes > 1).count() as u64;
        let persons = smallest.iter().filter(|&&size| size > 0).count() as u64;
        Ok(PersonClasses {
            table,
            surface,
            by_person,
            rows_of,
            grouped,
            sizes,
            split,
            smallest,
            persons,
        })
    }

    /// Evaluates every rule on each class by one of the readings.
    pub(super) fn evaluate(
        &self,
        request: &Request,
        specs: &[RuleSpec],
        reading: Persons,
    ) -> Result<(Measures, Vec<RuleVerdict>)> {
        let mut verdicts: Vec<Option<RuleVerdict>> = specs.iter().map(|_| None).collect();
        for (spec, verdict) in
            specs.iter().zip(&mut verdicts).filter(|(spec, _)| spec.model.column().is_none())
        {
            let rule = Rule::new(spec, None, GroundDistance::Equal, &request.missing);
            let mut rule = rule.of_persons(reading);
            let mut evaluate = |sizes: &[u64]| {
                let class = |&size| ClassCounts::of_rows(size, &[], &[]);
                sizes.iter().map(class).for_each(|class| rule.evaluate(&class, None));
            };
            if spec.columns == self.surface.roles.quasi {
                evaluate(&self.sizes);
            } else {
                let classes = classes_of(self.table, self.surface, &spec.columns)?;
                evaluate(&Grouped::new(&self.by_person, &classes.of, classes.sizes.len()).sizes());
            }
            *verdict = Some(rule.verdict());
        }
        let row_counts = RowCounts::new(self.table, request)?;
        let mut measures = self.sizes(row_counts.total, request);
        for name in &self.surface.roles.sensitive {
            let mut sensitive =
                Sensitive::new(coded(self.table, name)?, name, request, &row_counts);
            self.weigh(&mut sensitive, reading);
            let rules = rules_on(specs, name, &sensitive, &self.surface.roles, request)?;
            let mut rules: Vec<(usize, Rule<'_>)> =
                rules.into_iter().map(|(at, rule)| (at, rule.of_persons(reading))).collect();
            measures.sensitive.push(self.spread(name, &sensitive, reading, &mut rules, request)?);
            for (at, rule) in rules {
                verdicts[at] = Some(rule.verdict());
            }
        }
        let verdicts = verdicts.into_iter();
        let verdicts = verdicts.map(|one| one.expect("a rule is on a column of the table"));
        Ok((measures, verdicts.collect()))
    }

    /// The distribution of the whole table, in weights.
    fn weigh(&self, sensitive: &mut Sensitive<'_>, reading: Persons) {
        let mut whole = ClassTally::new(sensitive.values.len());
        for rows in persons(&self.by_person) {
            whole.add(rows, sensitive, reading, &self.rows_of, &[]);
        }
        sensitive.rows = whole.total;
        sensitive.totals = whole.weights;
    }

    /// Goes through the classes with the values of one sensitive column.
    fn spread(
        &self,
        name: &str,
        sensitive: &Sensitive<'_>,
        reading: Persons,
        rules: &mut [(usize, Rule<'_>)],
        request: &Request,
    ) -> Result<SensitiveMeasures> {
        let requested = requested_ground(name, sensitive, request)?;
        let mut worst = SensitiveMeasures::unseen(name, sensitive, requested.as_ref());
        let named: Vec<Vec<bool>> =
            rules.iter().map(|(_, rule)| rule.named().unwrap_or_default().to_vec()).collect();
        let mut tally = ClassTally::new(sensitive.values.len());
        for class in self.grouped.classes().filter(|class| !class.is_empty()) {
            tally.named.clear();
            tally.named.resize(named.len(), 0);
            for rows in persons(class) {
                tally.add(rows, sensitive, reading, &self.rows_of, &named);
            }
            for (at, (_, rule)) in rules.iter_mut().enumerate() {
                let any = rule.named().map(|_| tally.named[at]);
                let counts = match reading {
                    Persons::Whole if !rule.needs_distribution() => tally.persons(any),
                    _ => tally.distribution(),
                };
                rule.evaluate(&counts, Some(sensitive));
            }
            let counts = match reading {
                Persons::Whole => tally.persons(None),
                Persons::Rows => tally.distribution(),
            };
            worst.note(&counts, &tally.distribution(), sensitive, requested.as_ref());
            tally.clear();
        }
        Ok(worst)
    }

    #[allow(clippy::cast_precision_loss, reason = "for display")]
    fn sizes(&self, rows: u64, request: &Request) -> Measures {
        let (persons, k) = (self.persons, self.sizes.iter().copied().min().unwrap_or(0));
        let present = || self.smallest.iter().copied().filter(|&size| size > 0);
        let below = |size: u64| present().filter(|&least| least < size).count() as u64;
        let band = |(at, &from): (usize, &u64)| {
            let to = BANDS.get(at + 1).map(|next| next - 1);
            let is_in = |size: u64| size >= from && to.is_none_or(|to| size <= to);
            let classes = self.sizes.iter().filter(|&&size| is_in(size)).count() as u64;
            let rows = present().filter(|&least| is_in(least)).count() as u64;
            SizeBand { from, to, classes, rows }
        };
        let bands = BANDS.iter().enumerate().map(band).filter(|band| band.classes > 0);
        let uniques = below(2);
        let risk = Risk {
            highest: 1.0 / k as f64,
            average: present().map(|size| 1.0 / size as f64).sum::<f64>() / persons as f64,
            above: request.k.map(|k| below(k) as f64 / persons as f64),
            at_risk: THRESHOLDS.map(|one_in| AtRisk { one_in, rows: below(one_in) }).to_vec(),
        };
        Measures {
            rows,
            persons: Some(persons),
            classes: self.sizes.len() as u64,
            k,
            histogram: bands.collect(),
            uniques,
            uniques_share: uniques as f64 / persons as f64,
            risk,
            sensitive: Vec::new(),
        }
    }
}

/// The sensitive values of one class.
struct ClassTally {
    size: u64,
    /// For each value the persons who have it.
    holders: Vec<u64>,
    /// For each value its part of the weight of the class.
    weights: Vec<u64>,
    total: u64,
    present: Vec<u32>,
    /// For each rule the persons with one of the values that it names.
    named: Vec<u64>,
    /// The different values of one person.
    values: Vec<u32>,
}

impl ClassTally {
    fn new(values: usize) -> ClassTally {
        ClassTally {
            size: 0,
            holders: vec![0; values],
            weights: vec![0; values],
            total: 0,
            present: Vec::new(),
            named: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Adds the rows of one person.
    fn add(
        &mut self,
        rows: &[Piece],
        sensitive: &Sensitive<'_>,
        reading: Persons,
        rows_of: &[u64],
        named: &[Vec<bool>],
    ) {
        self.size += 1;
        let mut values = std::mem::take(&mut self.values);
        values.extend(rows.iter().map(|piece| sensitive.of(piece.row)));
        if reading == Persons::Rows {
            let each = (WEIGHT / rows_of[rows[0].person as usize]).max(1);
            for (piece, &value) in rows.iter().zip(&values) {
                self.weigh(value, each * u64::from(piece.count));
            }
        } else {
            values.sort_unstable();
            values.dedup();
            let each = (WEIGHT / values.len() as u64).max(1);
            for &value in &values {
                self.weigh(value, each);
                self.holders[value as usize] += 1;
            }
            for (count, named) in self.named.iter_mut().zip(named) {
                let is_named = |&value: &u32| named.get(value as usize) == Some(&true);
                *count += u64::from(values.iter().any(is_named));
            }
        }
        values.clear();
        self.values = values;
    }

    fn weigh(&mut self, value: u32, weight: u64) {
        if self.weights[value as usize] == 0 {
            self.present.push(value);
        }
        self.weights[value as usize] += weight;
        self.total += weight;
    }

    /// Persons by value; `named` are those with a value that the rule names.
    fn persons(&self, named: Option<u64>) -> ClassCounts<'_> {
        ClassCounts { named, ..ClassCounts::of_rows(self.size, &self.holders, &self.present) }
    }

    fn distribution(&self) -> ClassCounts<'_> {
        ClassCounts {
            whole: self.total,
            ..ClassCounts::of_rows(self.size, &self.weights, &self.present)
        }
    }

    fn clear(&mut self) {
        for value in self.present.drain(..) {
            self.holders[value as usize] = 0;
            self.weights[value as usize] = 0;
        }
        (self.size, self.total) = (0, 0);
    }
}
