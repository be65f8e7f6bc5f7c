//! Which rows of the table go to which class.
//!
//! A class has some of the rows of each of its tuples. Where these are not all rows of the tuple,
//! the choice is random under a key, all choices equally likely; the place of a row in the source
//! has no influence. A row that stands for several is as many rows as its count says.

use std::cmp::Ordering;

use super::BATCH;
use super::passthrough::{Comparable, PassedThrough};
use crate::codes::RowId;
use crate::error::Result;
use crate::problem::Problem;
use crate::problem::partition::Piece;
use crate::problem::recoding::Recoding;
use crate::request::Roles;
use crate::rng::{DEALING, Draws, Key};
use crate::table::Table;

/// A row of the table, or a part of its count, and where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dealt {
    /// The row of the table.
    pub row: RowId,
    /// The class of the recoding; none when suppressed.
    pub class: Option<u32>,
    /// How many of the rows that it stands for; 1 where each row stands for itself.
    pub count: u32,
}

/// Deals all rows of a table to the classes of a recoding, in the order of the table: for a row
/// with a count perhaps several pieces, by class, the suppressed one last.
///
/// The same key gives the same choice as in a [`Release`](super::Release) of the same table.
///
/// # Example
/// ```
/// # use lookalike::{*, release::{Dealt, deal}, rng::Key, problem::treatments};
/// let text = "age,n\n30,3\n35,1\n50,2\n".to_string();
/// let request = Request::parse("k = 2\ncount = 'n'\ncolumns.age.role = 'quasi'")?;
/// let source = table::open_text(text, "counts.csv".as_ref())?;
/// let roles = request.roles(source.names())?;
/// let treatments = treatments(source.names(), &roles);
/// let table = source.read(&treatments)?;
/// let problem = Problem::new(&table, &roles, &request)?;
/// let options = SearchOptions::new(Algorithm::Mondrian, 1);
/// let recoding = solve(&problem, options, &Budget::unlimited()).recoding;
/// let dealt = deal(&problem, &recoding, &table, &roles, Key::from_system())?;
/// assert_eq!(dealt[0], Dealt { row: 0, class: Some(0), count: 3 });
/// assert_eq!(dealt.len(), 3, "no row is split");
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When the passed-through cells cannot be gathered.
pub fn deal(
    problem: &Problem,
    recoding: &Recoding,
    table: &Table,
    roles: &Roles,
    key: Key,
) -> Result<Vec<Dealt>> {
    let passed = PassedThrough::new(table, roles);
    let mut dealt = if problem.whole_persons().is_some() {
        of_persons(problem, recoding, &passed, key)?
    } else if problem.is_counted() {
        of_units(problem, recoding, &passed, key)?
    } else {
        of_rows(problem, recoding, &passed, key)?
    };
    dealt.sort_unstable_by_key(|piece| (piece.row, piece.class.is_none(), piece.class));
    // A class may have several pieces of a tuple.
    dealt.dedup_by(|next, last| {
        let is_same = (next.row, next.class) == (last.row, last.class);
        last.count += if is_same { next.count } else { 0 };
        is_same
    });
    Ok(dealt)
}

/// The pieces of a recoding with their classes, suppressed ones last.
fn pieces(recoding: &Recoding) -> impl Iterator<Item = (Option<u32>, Piece)> {
    let classes = (0u32..).zip(recoding.classes().iter());
    let released =
        classes.flat_map(|(class, pieces)| pieces.iter().map(move |&piece| (Some(class), piece)));
    released.chain(recoding.suppressed().iter().map(|&piece| (None, piece)))
}

/// The tuples whose rows do not all go to one class, rising.
fn split_tuples(problem: &Problem, recoding: &Recoding) -> Vec<u32> {
    let pieces = recoding.classes().iter().flatten().chain(recoding.suppressed());
    let mut tuples: Vec<u32> = pieces
        .filter(|piece| piece.count < problem.count(piece.tuple))
        .map(|piece| piece.tuple)
        .collect();
    tuples.sort_unstable();
    tuples.dedup();
    tuples
}

/// Deals rows that stand for themselves.
fn of_rows(
    problem: &Problem,
    recoding: &Recoding,
    passed: &PassedThrough,
    key: Key,
) -> Result<Vec<Dealt>> {
    let mut deal = RowDeal::new(passed, problem, recoding, key)?;
    let mut dealt = Vec::new();
    for (class, piece) in pieces(recoding) {
        let rows = deal.take(piece).unwrap_or_else(|| problem.rows_of(piece.tuple));
        dealt.extend(rows.iter().map(|&row| Dealt { row, class, count: 1 }));
    }
    Ok(dealt)
}

/// Deals whole persons, each with all rows.
pub(super) fn of_persons(
    problem: &Problem,
    recoding: &Recoding,
    passed: &PassedThrough,
    key: Key,
) -> Result<Vec<Dealt>> {
    let persons = problem.persons().expect("the table has persons");
    // A person stands for the rows at first.
    let dealt = of_rows(problem, recoding, passed, key)?;
    let rows = |piece: Dealt| {
        let rows = persons.rows.of(piece.row).iter();
        rows.map(move |&row| Dealt { row, count: persons.count_of(row), ..piece })
    };
    Ok(dealt.into_iter().flat_map(rows).collect())
}

/// Deals rows with counts.
pub(super) fn of_units(
    problem: &Problem,
    recoding: &Recoding,
    passed: &PassedThrough,
    key: Key,
) -> Result<Vec<Dealt>> {
    let split = split_tuples(problem, recoding);
    let mut parts: Vec<Vec<(Option<u32>, u32)>> = vec![Vec::new(); split.len()];
    let mut dealt = Vec::new();
    for (class, piece) in pieces(recoding) {
        match split.binary_search(&piece.tuple) {
            Ok(at) => parts[at].push((class, piece.count)),
            Err(_) => {
                let counts = problem.counts_of(piece.tuple).expect("the table has counts");
                let rows = problem.rows_of(piece.tuple).iter().zip(counts);
                dealt.extend(rows.map(|(&row, &count)| Dealt { row, class, count }));
            }
        }
    }
    let mut draws = key.draws(DEALING);
    let mut from = 0;
    while from < split.len() {
        // Tuples whose rows are gathered at once.
        let (mut rows, mut to) = (Vec::new(), from);
        while to < split.len() && rows.len() < BATCH {
            rows.extend_from_slice(problem.rows_of(split[to]));
            to += 1;
        }
        let cells = passed.comparable(&rows)?;
        let mut first = 0;
        for at in from..to {
            let counts = problem.counts_of(split[at]).expect("the table has counts");
            let mut places: Vec<usize> = (first..first + counts.len()).collect();
            if let Some(cells) = &cells {
                places.sort_unstable_by(|&a, &b| cells.row(a).cmp(&cells.row(b)).then(a.cmp(&b)));
            }
            let own: Vec<(RowId, u32)> =
                places.iter().map(|&place| (rows[place], counts[place - first])).collect();
            // A stream for each tuple: how its units lie in rows has no influence on the others.
            let mut own_draws = key.draws(draws.next_u64());
            split_units(&own, &parts[at], &mut own_draws, &mut dealt);
            first += counts.len();
        }
        from = to;
    }
    Ok(dealt)
}

/// Deals the units of some rows to classes that want so many of them, all choices equally likely:
/// unit by unit to every class but the one that wants most, which takes the rest.
fn split_units(
    rows: &[(RowId, u32)],
    parts: &[(Option<u32>, u32)],
    draws: &mut Draws,
    dealt: &mut Vec<Dealt>,
) {
    if let [(row, _)] = rows {
        dealt.extend(parts.iter().map(|&(class, count)| Dealt { row: *row, class, count }));
        return;
    }
    let mut units = Units::new(rows.iter().map(|&(_, count)| count));
    let mut taken = vec![0; rows.len()];
    let most = (0..parts.len()).max_by_key(|&at| parts[at].1).expect("a split tuple has parts");
    for (_, &(class, count)) in parts.iter().enumerate().filter(|&(at, _)| at != most) {
        let mut touched = Vec::new();
        for _ in 0..count {
            let place = units.take(draws.below(units.left));
            if taken[place] == 0 {
                touched.push(place);
            }
            taken[place] += 1;
        }
        for place in touched {
            dealt.push(Dealt {
                row: rows[place].0,
                class,
                count: std::mem::take(&mut taken[place]),
            });
        }
    }
    let (class, _) = parts[most];
    for (&(row, _), count) in rows.iter().zip(units.rest()) {
        dealt.extend((count > 0).then_some(Dealt { row, class, count }));
    }
}

/// The units that each place has left, with sums that find a unit in logarithmic time.
///
/// # Reference
/// Fenwick: A New Data Structure for Cumulative Frequency Tables, Software: Practice and Experience
/// 1994.
struct Units {
    counts: Vec<u32>,
    /// Entry i is the sum of the last `i & -i` counts up to the i-th, counted from 1.
    sums: Vec<u64>,
    left: u64,
}

impl Units {
    fn new(counts: impl Iterator<Item = u32>) -> Units {
        let counts: Vec<u32> = counts.collect();
        let mut sums = vec![0; counts.len() + 1];
        for (at, &count) in (1..).zip(&counts) {
            sums[at] += u64::from(count);
            let above = at + (at & at.wrapping_neg());
            if above < sums.len() {
                sums[above] += sums[at];
            }
        }
        let left = counts.iter().map(|&count| u64::from(count)).sum();
        Units { counts, sums, left }
    }

    /// Takes a unit by its number among those left, and returns its place.
    fn take(&mut self, mut unit: u64) -> usize {
        let mut place = 0;
        let mut step = self.sums.len().next_power_of_two() / 2;
        while step > 0 {
            if let Some(&sum) = self.sums.get(place + step)
                && sum <= unit
            {
                (place, unit) = (place + step, unit - sum);
            }
            step /= 2;
        }
        let mut at = place + 1;
        while at < self.sums.len() {
            self.sums[at] -= 1;
            at += at & at.wrapping_neg();
        }
        self.counts[place] -= 1;
        self.left -= 1;
        place
    }

    /// The units that are left at each place.
    fn rest(self) -> Vec<u32> {
        self.counts
    }
}

/// The cells of rows or of whole persons, which compare: of a person those of all rows, in order.
struct UnitCells {
    cells: Comparable,
    /// For each person the places of the rows in the order of their cells; none for rows.
    places: Option<Vec<Vec<usize>>>,
}

impl UnitCells {
    /// The cells of some rows, or of some persons; none when no column is passed through.
    fn new(
        passed: &PassedThrough,
        problem: &Problem,
        units: &[RowId],
    ) -> Result<Option<UnitCells>> {
        let Some(persons) = problem.whole_persons() else {
            let cells = passed.comparable(units)?;
            return Ok(cells.map(|cells| UnitCells { cells, places: None }));
        };
        let rows: Vec<RowId> =
            units.iter().flat_map(|&person| persons.of(person)).copied().collect();
        let Some(cells) = passed.comparable(&rows)? else { return Ok(None) };
        let mut first = 0;
        let mut places_of = |&person: &RowId| {
            let end = first + persons.of(person).len();
            let mut places: Vec<usize> = (first..end).collect();
            places.sort_unstable_by(|&a, &b| cells.row(a).cmp(&cells.row(b)));
            first = end;
            places
        };
        let places = Some(units.iter().map(&mut places_of).collect());
        Ok(Some(UnitCells { cells, places }))
    }

    fn compared(&self, a: usize, b: usize) -> Ordering {
        match &self.places {
            None => self.cells.row(a).cmp(&self.cells.row(b)),
            Some(places) => {
                let cells = |unit: usize| places[unit].iter().map(|&place| self.cells.row(place));
                cells(a).cmp(cells(b))
            }
        }
    }
}

/// The rows (or whole persons) of tuples that are split over several classes, each tuple's in random
/// order.
pub(super) struct RowDeal {
    tuples: Vec<u32>,
    rows: Vec<RowId>,
    /// For each tuple the place of its next row that has no class yet.
    next: Vec<usize>,
}

impl RowDeal {
    pub(super) fn new(
        passed: &PassedThrough,
        problem: &Problem,
        recoding: &Recoding,
        key: Key,
    ) -> Result<RowDeal> {
        let tuples = split_tuples(problem, recoding);
        let mut deal = RowDeal { rows: Vec::new(), next: Vec::with_capacity(tuples.len()), tuples };
        let mut draws = key.draws(DEALING);
        let mut from = 0;
        for at in 0..deal.tuples.len() {
            deal.next.push(deal.rows.len());
            deal.rows.extend_from_slice(problem.rows_of(deal.tuples[at]));
            if deal.rows.len() - deal.next[from] >= BATCH || at + 1 == deal.tuples.len() {
                deal.shuffle(passed, problem, from, &mut draws)?;
                from = at + 1;
            }
        }
        Ok(deal)
    }

    /// Puts the rows of the tuples from `from` on in random order, each tuple's among themselves.
    /// They are sorted by their cells first, so that the order of the source has no influence.
    fn shuffle(
        &mut self,
        passed: &PassedThrough,
        problem: &Problem,
        from: usize,
        draws: &mut Draws,
    ) -> Result<()> {
        let start = self.next[from];
        let cells = UnitCells::new(passed, problem, &self.rows[start..])?;
        for (at, &begin) in self.next.iter().enumerate().skip(from) {
            let end = self.next.get(at + 1).copied().unwrap_or(self.rows.len());
            let mut places: Vec<usize> = (begin - start..end - start).collect();
            if let Some(cells) = &cells {
                places.sort_unstable_by(|&a, &b| cells.compared(a, b).then(a.cmp(&b)));
            }
            draws.shuffle(&mut places);
            let dealt: Vec<RowId> = places.iter().map(|&place| self.rows[start + place]).collect();
            self.rows[begin..end].copy_from_slice(&dealt);
        }
        Ok(())
    }

    /// The next rows of a tuple; none when all of its rows go to one class.
    pub(super) fn take(&mut self, piece: Piece) -> Option<&[RowId]> {
        let at = self.tuples.binary_search(&piece.tuple).ok()?;
        let begin = self.next[at];
        self.next[at] += piece.count as usize;
        Some(&self.rows[begin..self.next[at]])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::release::{CellFormat, Release};
    use crate::request::Request;
    use crate::rng::Rng;
    use crate::search::solve;
    use crate::search::tuning::Tuning;
    use crate::{Algorithm, Budget, SearchOptions, testing};

    /// A table and its answer.
    struct Solved {
        table: Table,
        roles: Roles,
        request: Request,
        problem: Problem,
        recoding: Recoding,
    }

    fn solved(text: &str, toml: &str, algorithm: Algorithm) -> Solved {
        let table = testing::table(text);
        let (roles, request) = testing::request(&table, toml);
        let problem = testing::problem_of(&table, &roles, &request).unwrap();
        let options = SearchOptions {
            steps: Some(40),
            tuning: Tuning::tiny(),
            ..SearchOptions::new(algorithm, 3)
        };
        let recoding = solve(&problem, options, &Budget::unlimited()).recoding;
        Solved { table, roles, request, problem, recoding }
    }

    impl Solved {
        fn deal(&self, seed: u64) -> Vec<Dealt> {
            let key = Key::from_seed(seed);
            deal(&self.problem, &self.recoding, &self.table, &self.roles, key).unwrap()
        }

        /// The lines of the release, without its header.
        fn released(&self, seed: u64) -> Vec<String> {
            let release = Release::new(
                &self.problem,
                &self.recoding,
                &self.table,
                &self.roles,
                &self.request,
                Key::from_seed(seed),
                CellFormat::Typed,
            )
            .unwrap();
            let lines: Vec<String> = (0..release.batches())
                .flat_map(|at| {
                    let text = testing::csv(&release.batch(at).unwrap());
                    text.lines().skip(1).map(String::from).collect::<Vec<_>>()
                })
                .collect();
            assert_eq!(lines.len(), release.rows());
            lines
        }

        fn is_split(&self) -> bool {
            !split_tuples(&self.problem, &self.recoding).is_empty()
        }
    }

    /// A random table of equal rows, with a kept and a dropped column; the second text is the same
    /// table with counts in a column `n` before the note.
    fn tables(seed: u64) -> (String, String) {
        let mut rng = Rng::new(seed);
        let mut plain = "age,city,illness,note,name\n".to_string();
        let mut counted = "age,city,illness,n,note,name\n".to_string();
        for row in 0..40 {
            let town = ["Ulm", "Bonn", "Kiel"][rng.place(3)];
            let ill = ["flu", "gout", "cold"][rng.place(3)];
            let quasi = format!("{},{town},{ill}", 20 + rng.below(7));
            let other = format!("{},p{row}", ["a", "b", ""][rng.place(3)]);
            let count = 1 + rng.below(4);
            (0..count).for_each(|_| plain += &format!("{quasi},{other}\n"));
            counted += &format!("{quasi},{count},{other}\n");
        }
        (plain, counted)
    }

    /// A request on those columns; `more` are further keys.
    fn toml(more: &str) -> String {
        format!(
            "k = 5\nseed = 1\n{more}\n[columns]\nage = {{ role = 'quasi' }}\n\
             city = {{ role = 'quasi' }}\nillness = {{ role = 'sensitive', distinct = 2 }}\n\
             note = {{ role = 'keep' }}\nname = {{ role = 'identifier' }}"
        )
    }

    const ALGORITHMS: [Algorithm; 5] = [
        Algorithm::Auto,
        Algorithm::Mondrian,
        Algorithm::MondrianRelaxed,
        Algorithm::Cluster,
        Algorithm::Optimal,
    ];

    #[test]
    fn every_class_gets_its_rows_and_every_row_is_dealt_once() {
        let mut splits = 0;
        for seed in 0..6 {
            let (plain, counted) = tables(seed);
            for more in ["", "limits.suppress = '10%'"] {
                for algorithm in ALGORITHMS {
                    let count = format!("count = 'n'\n{more}");
                    for found in [
                        solved(&plain, &toml(more), algorithm),
                        solved(&counted, &toml(&count), algorithm),
                    ] {
                        let dealt = found.deal(seed);
                        let is_in_order = |pair: &[Dealt]| {
                            let rank = |dealt: Dealt| (dealt.row, dealt.class.unwrap_or(u32::MAX));
                            rank(pair[0]) < rank(pair[1])
                        };
                        assert!(dealt.windows(2).all(is_in_order), "each row and class once");
                        let problem = &found.problem;
                        let mut of_row: BTreeMap<RowId, u32> = BTreeMap::new();
                        let mut of_piece: BTreeMap<(Option<u32>, u32), u32> = BTreeMap::new();
                        let mut tuple_of = BTreeMap::new();
                        let mut counts: BTreeMap<RowId, u32> = BTreeMap::new();
                        for tuple in (0..).take(problem.tuples()) {
                            let rows = problem.rows_of(tuple);
                            let ones = vec![1; rows.len()];
                            let own = problem.counts_of(tuple).unwrap_or(&ones);
                            counts.extend(rows.iter().copied().zip(own.iter().copied()));
                            tuple_of.extend(rows.iter().map(|&row| (row, tuple)));
                        }
                        for Dealt { row, class, count } in dealt {
                            assert!(count > 0);
                            *of_row.entry(row).or_default() += count;
                            *of_piece.entry((class, tuple_of[&row])).or_default() += count;
                        }
                        assert_eq!(of_row, counts);
                        let mut expected: BTreeMap<(Option<u32>, u32), u32> = BTreeMap::new();
                        for (class, piece) in pieces(&found.recoding) {
                            *expected.entry((class, piece.tuple)).or_default() += piece.count;
                        }
                        assert_eq!(of_piece, expected);
                        splits += u32::from(found.is_split());
                    }
                }
            }
        }
        assert!(splits > 20, "tuples were split {splits} times");
    }

    /// The lines of a release as one line for equal ones, with their count before the note.
    fn with_counts(lines: &[String]) -> Vec<String> {
        let one = |same: &[String]| {
            let (start, note) = same[0].rsplit_once(',').unwrap();
            format!("{start},{},{note}", same.len())
        };
        lines.chunk_by(|one, other| one == other).map(one).collect()
    }

    #[test]
    fn the_release_of_a_counted_table_is_the_counted_release_of_its_rows() {
        let mut whole = 0;
        for seed in 0..12 {
            let (plain, counted) = tables(seed);
            for algorithm in ALGORITHMS {
                for more in ["", "limits.suppress = '10%'", "output.publish = 'bounds'"] {
                    let of_rows = solved(&plain, &toml(more), algorithm);
                    let count = format!("count = 'n'\n{more}");
                    let of_counts = solved(&counted, &toml(&count), algorithm);
                    let (rows, counts) = (of_rows.released(seed), of_counts.released(seed));
                    let mut shown: Vec<Vec<&str>> = Vec::new();
                    for line in &counts {
                        let mut cells: Vec<&str> = line.split(',').collect();
                        cells.remove(cells.len() - 2);
                        shown.push(cells);
                    }
                    shown.sort_unstable();
                    assert!(shown.windows(2).all(|pair| pair[0] != pair[1]), "{counts:?}");
                    if of_rows.is_split() {
                        continue;
                    }
                    whole += 1;
                    assert_eq!(counts, with_counts(&rows), "seed {seed}, {algorithm}, {more}");
                }
            }
        }
        assert!(whole > 60, "{whole} releases were compared");
    }

    #[test]
    fn the_order_of_the_rows_and_the_rows_of_a_count_have_no_influence() {
        for seed in 0..10 {
            let (_, counted) = tables(seed);
            let mut lines: Vec<String> = counted.lines().map(String::from).collect();
            let mut rng = Rng::new(seed);
            // A count of 4 as two rows of 1 and 3.
            let parts: Vec<String> =
                lines.iter().filter(|line| line.contains(",4,")).cloned().collect();
            lines.iter_mut().for_each(|line| *line = line.replace(",4,", ",1,"));
            lines.extend(parts.iter().map(|line| line.replace(",4,", ",3,")));
            rng.shuffle(&mut lines[1..]);
            let toml = toml("count = 'n'\nlimits.suppress = '10%'");
            let (one, other) = (
                solved(&counted, &toml, Algorithm::MondrianRelaxed),
                solved(&format!("{}\n", lines.join("\n")), &toml, Algorithm::MondrianRelaxed),
            );
            assert!(one.is_split());
            assert_eq!(one.released(seed), other.released(seed));
            let releases: Vec<_> = (0..20).map(|seed| one.released(seed)).collect();
            assert!(releases.iter().any(|release| *release != releases[0]), "it is random");
        }
    }

    /// All orders of these items.
    fn orders(items: &[RowId]) -> Vec<Vec<RowId>> {
        let Some(&first) = items.first() else { return vec![Vec::new()] };
        let of_rest = orders(&items[1..]);
        let with_first = |at: usize| {
            of_rest.iter().map(move |rest| {
                let mut order = rest.clone();
                order.insert(at, first);
                order
            })
        };
        (0..items.len()).flat_map(with_first).collect()
    }

    #[test]
    fn all_choices_of_units_are_equally_likely() {
        let rows = [(7, 2), (3, 1), (9, 3)];
        for parts in [
            vec![(Some(0), 2), (None, 1), (Some(4), 3)],
            vec![(Some(0), 4), (Some(1), 1), (None, 1)],
            vec![(Some(2), 1), (Some(5), 5)],
        ] {
            // What each order of the six units gives to the parts, one after the other.
            let units: Vec<RowId> =
                rows.iter().flat_map(|&(row, count)| vec![row; count as usize]).collect();
            type Outcome = BTreeMap<(Option<u32>, RowId), u32>;
            let mut expected: BTreeMap<Outcome, u32> = BTreeMap::new();
            for order in orders(&units) {
                let (mut outcome, mut next) = (Outcome::new(), order.into_iter());
                for &(class, count) in &parts {
                    for row in next.by_ref().take(count as usize) {
                        *outcome.entry((class, row)).or_default() += 1;
                    }
                }
                *expected.entry(outcome).or_default() += 1;
            }
            let draws = 20_000;
            let mut seen: BTreeMap<Outcome, u32> = BTreeMap::new();
            for seed in 0..draws {
                let mut dealt = Vec::new();
                let mut random = Key::from_seed(seed).draws(DEALING);
                split_units(&rows, &parts, &mut random, &mut dealt);
                let outcome = dealt.iter().map(|dealt| ((dealt.class, dealt.row), dealt.count));
                *seen.entry(outcome.collect()).or_default() += 1;
            }
            assert_eq!(seen.len(), expected.len());
            let mut distance = 0.0;
            for (outcome, ways) in &expected {
                let likely = f64::from(*ways) / 720.0 * f64::from(u32::try_from(draws).unwrap());
                distance += (f64::from(seen[outcome]) - likely).powi(2) / likely;
            }
            let freedom = f64::from(u32::try_from(expected.len() - 1).unwrap());
            let deviations = (distance - freedom) / (2.0 * freedom).sqrt();
            assert!(deviations < 5.0, "{deviations} for {parts:?}");
        }
    }

    #[test]
    fn a_unit_is_found_where_a_full_scan_finds_it() {
        let mut rng = Rng::new(4);
        for _ in 0..50 {
            let counts: Vec<u32> =
                (0..1 + rng.below(20)).map(|_| u32::try_from(rng.below(5)).unwrap()).collect();
            let mut units = Units::new(counts.iter().copied());
            let mut left: Vec<usize> = counts
                .iter()
                .enumerate()
                .flat_map(|(place, &count)| vec![place; count as usize])
                .collect();
            while !left.is_empty() {
                assert_eq!(units.left, left.len() as u64);
                let unit = rng.place(left.len());
                assert_eq!(units.take(unit as u64), left.remove(unit));
            }
            assert!(units.rest().iter().all(|&count| count == 0));
        }
    }
}
