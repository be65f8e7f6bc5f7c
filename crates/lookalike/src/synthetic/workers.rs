//! Two synthetic tables of workers. They replace SAL and INCOME, which came from IPUMS and may not
//! be redistributed.
//!
//! Columns, their order and the sizes of their domains are those of the paper. The people are not:
//! they are the synthetic people of the census table who work, so skew and correlations are that
//! table's, and figures measured here are not the paper's. Every value is a number, because the
//! experiments order every domain: an age in years, an income, otherwise a code from 1. Related
//! codes are neighbours: occupations of a group, birthplaces of a part of the world (after those at
//! home).
//!
//! # Reference
//! He, Chen, Chen, Dong, Wang, Huang: Clustering-Based k-Anonymity, PAKDD 2012, table 3.

use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::census::{self, FEDERAL, JOBS_IN_GROUP, OCCUPATIONS, PRIVATE};
use super::{Pick, chance, row_generators, zipf};
use crate::rng::Rng;

/// One row, in codes.
struct Worker {
    age: usize,
    gender: usize,
    education: usize,
    marital: usize,
    race: usize,
    work: usize,
    place: usize,
    job: usize,
    income: usize,
}

/// The name of a column and its value in a row.
type WorkerColumn = (&'static str, fn(&Worker) -> usize);

const SAL_COLUMNS: [WorkerColumn; 8] = [
    ("age", |worker| worker.age),
    ("gender", |worker| worker.gender),
    ("education", |worker| worker.education),
    ("marital", |worker| worker.marital),
    ("race", |worker| worker.race),
    ("workclass", |worker| worker.work),
    ("country", |worker| worker.place),
    ("occupation", |worker| worker.job),
];

const INCOME_COLUMNS: [WorkerColumn; 9] = [
    ("age", |worker| worker.age),
    ("occupation", |worker| worker.job),
    ("birthplace", |worker| worker.place),
    ("gender", |worker| worker.gender),
    ("education", |worker| worker.education),
    ("race", |worker| worker.race),
    ("workclass", |worker| worker.work),
    ("marital", |worker| worker.marital),
    ("income", |worker| worker.income),
];

/// 78 ages, as published: from the first at which the census lets people work.
const OLDEST: usize = 93;

/// Levels of schooling of the census as 17 levels: grades 1 to 4, 5 and 6, 7 and 8 are one each,
/// and so is everything before.
const EDUCATION: [usize; 24] =
    [1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];

/// Married, widowed, divorced, separated, single; code 2 is for the married who live apart.
const MARITAL: [usize; 5] = [1, 5, 4, 3, 6];

/// The percentage of the birthplaces abroad in each part of the world.
const PARTS: [usize; 5] = [28, 26, 18, 24, 4];

/// Related codes, the most frequent first.
struct Slice {
    first: usize,
    pick: Pick,
}

impl Slice {
    fn draw(&self, rng: &mut Rng) -> usize {
        self.first + self.pick.draw(rng)
    }
}

/// Divides `codes` codes from `first` on into slices with lengths in proportion to the shares.
fn slices(first: usize, codes: usize, shares: &[usize]) -> Vec<Slice> {
    let all: usize = shares.iter().sum();
    let end = |slice: usize| codes * shares[..slice].iter().sum::<usize>() / all;
    (0..shares.len())
        .map(|slice| Slice {
            first: first + end(slice),
            pick: Pick::new(&zipf(end(slice + 1) - end(slice))),
        })
        .collect()
}

/// One of the two tables.
pub(super) struct Workers {
    columns: &'static [WorkerColumn],
    /// The country itself, then the parts of the world.
    places: Vec<Slice>,
    /// By group of occupations.
    jobs: Vec<Slice>,
    works: usize,
}

impl Workers {
    fn new(columns: &'static [WorkerColumn], [homes, places, jobs, works]: [usize; 4]) -> Workers {
        let mut all_places = slices(1, homes, &[1]);
        all_places.extend(slices(1 + homes, places - homes, &PARTS));
        Workers {
            columns,
            places: all_places,
            jobs: slices(1, jobs, &[1; OCCUPATIONS.len()]),
            works,
        }
    }

    fn worker(&self, rng: &mut Rng) -> Worker {
        let model = &*census::MODEL;
        // Most people of the census work; the others are skipped.
        loop {
            let person = census::person(model, rng);
            let answers = (person.education, person.occupation, person.work, person.income);
            let (Some(education), Some(occupation), Some(work), Some(income)) = answers else {
                continue;
            };
            if person.age > OLDEST {
                continue;
            }
            return Worker {
                age: person.age,
                gender: person.sex + 1,
                education: EDUCATION[education],
                marital: if person.marital == 0 && chance(rng, 4) {
                    2
                } else {
                    MARITAL[person.marital]
                },
                race: person.race + 1,
                work: match work {
                    FEDERAL if chance(rng, 25) => 9,
                    PRIVATE if self.works > 9 && chance(rng, 3) => 10,
                    other => other + 1,
                },
                place: self.places[model.part(person.birthplace)].draw(rng),
                job: self.jobs[occupation / JOBS_IN_GROUP].draw(rng),
                // Steps below 2 count as 2, and half of all workers are one step higher. The last
                // amount stands for all above it.
                income: 1_000
                    + 100
                        * usize::try_from((income.saturating_sub(2) + rng.below(2)).min(90))
                            .expect("a small number"),
            };
        }
    }
}

/// 83 countries, the first of them home; 50 occupations, 10 classes of work.
pub(super) static SAL: LazyLock<Workers> =
    LazyLock::new(|| Workers::new(&SAL_COLUMNS, [1, 83, 50, 10]));

/// 983 birthplaces, 51 of them at home; 711 occupations, 9 classes of work.
pub(super) static INCOME: LazyLock<Workers> =
    LazyLock::new(|| Workers::new(&INCOME_COLUMNS, [51, 983, 711, 9]));

pub(super) fn schema(table: &Workers) -> SchemaRef {
    let fields: Vec<Field> =
        table.columns.iter().map(|(name, _)| Field::new(*name, DataType::Int64, false)).collect();
    Arc::new(Schema::new(fields))
}

pub(super) fn batch(table: &Workers, seed: u64, first_row: u64, rows: usize) -> RecordBatch {
    let workers: Vec<Worker> =
        row_generators(seed, first_row, rows).map(|mut rng| table.worker(&mut rng)).collect();
    let number = |code: usize| i64::try_from(code).expect("a small number");
    let column = |(_, of): &WorkerColumn| {
        Arc::new(workers.iter().map(|worker| number(of(worker))).collect::<Int64Array>())
            as ArrayRef
    };
    RecordBatch::try_new(schema(table), table.columns.iter().map(column).collect())
        .expect("the columns fit the schema")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn workers(table: &Workers, rows: usize) -> impl Iterator<Item = Worker> {
        row_generators(1, 0, rows).map(|mut rng| table.worker(&mut rng))
    }

    /// For each column the least value, the greatest, and how many there are.
    fn domains(table: &Workers, rows: usize) -> Vec<(&'static str, usize, usize, usize)> {
        let mut seen = vec![BTreeSet::new(); table.columns.len()];
        for worker in workers(table, rows) {
            seen.iter_mut().zip(table.columns).for_each(|(seen, (_, of))| {
                seen.insert(of(&worker));
            });
        }
        let ends = |seen: &BTreeSet<usize>| (*seen.first().unwrap(), *seen.last().unwrap());
        table
            .columns
            .iter()
            .zip(&seen)
            .map(|((name, _), seen)| (*name, ends(seen).0, ends(seen).1, seen.len()))
            .collect()
    }

    #[test]
    fn tables_of_the_published_length_have_the_published_domains_in_the_published_order() {
        let sal = [
            ("age", 16, 93, 78),
            ("gender", 1, 2, 2),
            ("education", 1, 17, 17),
            ("marital", 1, 6, 6),
            ("race", 1, 9, 9),
            ("workclass", 1, 10, 10),
            ("country", 1, 83, 83),
            ("occupation", 1, 50, 50),
        ];
        assert_eq!(domains(&SAL, 500_000), sal);
        let income = [
            ("age", 16, 93, 78),
            ("occupation", 1, 711, 711),
            ("birthplace", 1, 983, 983),
            ("gender", 1, 2, 2),
            ("education", 1, 17, 17),
            ("race", 1, 9, 9),
            ("workclass", 1, 9, 9),
            ("marital", 1, 6, 6),
            ("income", 1_000, 10_000, 91),
        ];
        assert_eq!(domains(&INCOME, 600_000), income);
    }

    /// The mean of one column for each value of another.
    fn means(
        table: &Workers,
        by: fn(&Worker) -> usize,
        of: fn(&Worker) -> usize,
    ) -> BTreeMap<usize, f64> {
        let mut sums: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for worker in workers(table, 100_000) {
            let (sum, rows) = sums.entry(by(&worker)).or_default();
            (*sum, *rows) = (*sum + of(&worker), *rows + 1);
        }
        sums.into_iter().map(|(value, (sum, rows))| (value, sum as f64 / rows as f64)).collect()
    }

    #[test]
    fn columns_depend_on_each_other() {
        let age = means(&SAL, |worker| worker.marital, |worker| worker.age);
        assert!(
            age[&6] + 10.0 < age[&1] && age[&1] + 5.0 < age[&5],
            "never married, married, widowed: {age:?}"
        );
        let pay = means(&INCOME, |worker| worker.education, |worker| worker.income);
        assert!(
            pay[&9] * 1.3 < pay[&14] && pay[&14] < pay[&17],
            "high school, bachelor, doctor: {pay:?}"
        );
        let job = means(&INCOME, |worker| worker.education, |worker| worker.job);
        assert!(
            job[&14] + 100.0 < job[&9],
            "offices have the low codes, trades the high ones: {job:?}"
        );
        let abroad = means(&SAL, |worker| worker.race, |worker| usize::from(worker.place > 1));
        assert!(abroad[&6] > 0.5 && abroad[&1] < 0.1, "{abroad:?}");
        let public = means(
            &SAL,
            |worker| worker.job / 3,
            |worker| usize::from(matches!(worker.work, 3..=5)),
        );
        assert!(
            public.values().any(|&share| share > 0.5) && public.values().any(|&share| share < 0.1),
            "{public:?}"
        );
    }

    #[test]
    fn values_are_skewed_but_no_sensitive_value_rules_out_ten_of_them_in_a_class() {
        let share = |table: &Workers, of: fn(&Worker) -> usize| {
            let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
            workers(table, 100_000).for_each(|worker| *counts.entry(of(&worker)).or_default() += 1);
            *counts.values().max().unwrap() as f64 / 100_000.0
        };
        assert!((0.8..0.95).contains(&share(&SAL, |worker| worker.place)));
        assert!((0.5..0.8).contains(&share(&SAL, |worker| worker.work)));
        assert!((0.04..0.1).contains(&share(&SAL, |worker| worker.job)));
        assert!((0.02..0.1).contains(&share(&INCOME, |worker| worker.income)));
    }
}
