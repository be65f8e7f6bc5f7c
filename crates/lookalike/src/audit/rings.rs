//! The audit of non-homogeneous releases: every person could be any of k released rows, every
//! released row any of k persons.
//!
//! Equal rows have no meaning here. The question is which released row covers which person of the
//! source, and whether there are k assignments of all released rows to all persons that have no
//! pair in common: then no reasoning with the quasi-identifiers alone leaves a person fewer than k
//! rows. A [`Proof`] names rings on which these assignments can be read off; without a proof they
//! are searched for.

use rayon::prelude::*;
use serde::Serialize;

use super::ground_distance::{GroundDistance, ground_distance};
use super::join::{CombinationCounts, Coverage, Join, Quasi, combinations, count_combinations};
use super::matching::greatest_within;
use super::row_counts::RowCounts;
use super::rules::{ClassCounts, Rule, Sensitive};
use super::source_check::{self, Finding, LIMITS, Method, Sides, SourceCheck};
use super::source_match::by_passthrough;
use super::{RuleVerdict, coded};
use crate::codes::{Codes, RowId};
use crate::error::{Error, Hint, Result};
use crate::request::{ModelSpec, Request, RuleSpec};
use crate::table::Table;

/// Which released rows each person could be, ring by ring. It is as secret as the source: it
/// discloses far better than the release who could be who, and with the shift that it implies, who
/// is who.
///
/// The released row of a place covers the persons of the next `window` places, its own included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// The rings, in the order of their places.
    pub rings: Vec<ProofRing>,
    /// For each place the row of the source, counted from 0.
    pub persons: Vec<RowId>,
    /// For each place the released row, counted from 0.
    pub released: Vec<RowId>,
}

/// The length of a ring, and the window of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProofRing {
    /// The number of places.
    pub places: usize,
    /// The number of places that a released row covers, between 1 and `places`.
    pub window: usize,
}

/// The guarantee of a non-homogeneous release.
#[derive(Clone, Debug, Serialize)]
pub struct NonHomogeneous {
    /// Every person could be any of at least so many released rows, every released row any of as
    /// many persons, and as many assignments of all rows to all persons have no pair in common.
    pub candidates: u64,
    /// The number of rings of the proof; none when there was no proof and the assignments were
    /// searched for in the whole table.
    pub rings: Option<u64>,
}

/// The findings on a non-homogeneous release: its guarantee, every rule, and the comparison with
/// the source.
pub(super) type Findings = (NonHomogeneous, Vec<RuleVerdict>, SourceCheck);

/// The audit by a proof: nothing has to be searched for.
pub(super) fn by_proof(
    release: &Table,
    source: &Table,
    request: &Request,
    specs: &[RuleSpec],
    proof: &Proof,
) -> Result<Findings> {
    source_check::number_together(release, source)?;
    let Sides { mut truth, passthrough, quasi, .. } =
        source_check::sides(release, source, request)?;
    fits(proof, release.rows(), source.rows())?;
    let rings: Vec<RingRows<'_>> = proof.rings().collect();
    let bags = || quasi.iter().map(|quasi| Bag::new(quasi.distinct_values)).collect::<Vec<Bag>>();
    let broken: u64 =
        rings.par_iter().map_init(bags, |bags, ring| uncovered(ring, &quasi, bags)).sum();
    let others = by_passthrough(&passthrough, (release.rows(), source.rows()));
    let in_release = |row: RowId| others.of[source.rows() + row as usize];
    let in_source = |row: RowId| others.of[row as usize];
    let unshifted = rings.par_iter().filter(|ring| !has_shift(ring, in_release, in_source));
    let exchanged: u64 = unshifted.map(|ring| ring.released.len() as u64).sum();
    truth.cells_checked = Method::ByProof;
    truth.violations = broken + exchanged;
    truth.rows_matched = release.rows() as u64 - truth.violations.min(release.rows() as u64);
    truth.carried_unchanged &= exchanged == 0;
    if exchanged == 0 {
        truth.state(
            Finding::Ok,
            "on every ring each released row has the other cells of a source row that it covers, \
             shifted by the same number of places",
        );
    } else {
        truth.state(
            Finding::Broken,
            format!(
                "{exchanged} released rows on some rings do not have the other cells of source \
                 rows shifted by the same number of places: the release or the proof is another \
                 one"
            ),
        );
    }
    let candidates = rings.iter().map(|ring| ring.window as u64).min().unwrap_or(0);
    let sense = NonHomogeneous { candidates, rings: Some(rings.len() as u64) };
    if broken == 0 {
        truth.state(
            Finding::Ok,
            format!(
                "on every ring each source row could be any of {candidates} released rows or more, \
                 each released row any of as many source rows, and as many ways to pair all of \
                 them have no pair in common"
            ),
        );
    } else {
        truth.state(
            Finding::Broken,
            format!(
                "{broken} released rows do not cover all the source rows that the proof says they \
                 do"
            ),
        );
    }
    Ok((sense, on_windows(release, request, specs, &rings)?, truth))
}

/// The audit without a proof: searches the whole table for k assignments of rows to persons that
/// have no pair in common.
pub(super) fn by_search(
    release: &Table,
    source: &Table,
    request: &Request,
    specs: &[RuleSpec],
) -> Result<Findings> {
    let needs_proof = |why: &str| Error::data("needs-proof", why).hint(Hint::UseProof);
    if specs.iter().any(|spec| spec.model.column().is_some()) {
        return Err(needs_proof(
            "without a proof a non-homogeneous release cannot be checked for rules on sensitive \
             columns",
        ));
    }
    if release.rows() != source.rows() {
        return Err(needs_proof(
            "rows were suppressed, and a non-homogeneous release does not say which",
        ));
    }
    source_check::number_together(release, source)?;
    let mut sides = source_check::sides(release, source, request)?;
    source_check::compare(
        &mut sides,
        (release.rows(), source.rows()),
        request.output.order,
        LIMITS,
    );
    let Sides { mut truth, quasi, .. } = sides;
    let least = |spec: &RuleSpec| if let ModelSpec::K(k) = spec.model { k } else { 1 };
    let k = specs.iter().map(least).max().unwrap_or(1);
    let candidates = disjoint_assignments(&quasi, release.rows(), k)
        .ok_or_else(|| needs_proof("there are too many pairs to search"))?;
    if candidates >= k {
        truth.state(
            Finding::Ok,
            format!("{k} ways to pair all released rows with source rows have no pair in common"),
        );
    } else {
        truth.violations += 1;
        truth.state(
            Finding::Broken,
            format!(
                "no {k} ways to pair all released rows with source rows are without a pair in \
                 common"
            ),
        );
    }
    let verdict = |spec: &RuleSpec| {
        let mut rule = Rule::new(spec, None, GroundDistance::Equal, &request.missing);
        rule.evaluate(&ClassCounts::of_rows(candidates, &[], &[]), None);
        RuleVerdict { measure: CANDIDATES, ..rule.verdict() }
    };
    Ok((NonHomogeneous { candidates, rings: None }, specs.iter().map(verdict).collect(), truth))
}

const CANDIDATES: &str = "fewest candidates";

/// One ring of a proof: its window, and the rows of its places.
struct RingRows<'a> {
    window: usize,
    persons: &'a [RowId],
    released: &'a [RowId],
}

impl Proof {
    fn rings(&self) -> impl Iterator<Item = RingRows<'_>> {
        self.rings.iter().scan(0, |from, ring| {
            let places = *from..*from + ring.places;
            *from = places.end;
            Some(RingRows {
                window: ring.window,
                persons: &self.persons[places.clone()],
                released: &self.released[places],
            })
        })
    }
}

/// Checks that a proof has each released row once, no person twice, and no window larger than its
/// ring.
fn fits(proof: &Proof, released: usize, persons: usize) -> Result<()> {
    let once = |rows: &[RowId], of: usize| {
        let mut seen = vec![false; of];
        rows.iter().all(|&row| {
            seen.get_mut(row as usize).is_some_and(|seen| !std::mem::replace(seen, true))
        })
    };
    let places = proof.rings.iter().try_fold(0usize, |sum, ring| sum.checked_add(ring.places));
    let is_whole = places == Some(proof.persons.len())
        && proof.persons.len() == proof.released.len()
        && proof.released.len() == released
        && proof.rings.iter().all(|ring| (1..=ring.places).contains(&ring.window))
        && once(&proof.released, released)
        && once(&proof.persons, persons);
    if is_whole {
        Ok(())
    } else {
        Err(Error::data(
            "wrong-proof",
            "the proof does not belong to this release: it does not have each row once",
        ))
    }
}

/// The values in a window that slides over a ring row by row.
struct Bag {
    counts: Vec<u64>,
    /// The values with a count above 0, each once, and the place of each value among them.
    present: Vec<u32>,
    places: Vec<u32>,
}

impl Bag {
    fn new(values: usize) -> Bag {
        Bag { counts: vec![0; values], present: Vec::new(), places: vec![0; values] }
    }

    fn add(&mut self, value: u32) {
        let count = &mut self.counts[value as usize];
        if *count == 0 {
            self.places[value as usize] =
                u32::try_from(self.present.len()).expect("fewer values present than values");
            self.present.push(value);
        }
        *count += 1;
    }

    fn remove(&mut self, value: u32) {
        self.counts[value as usize] -= 1;
        if self.counts[value as usize] == 0 {
            let place = self.places[value as usize];
            self.present.swap_remove(place as usize);
            if let Some(&moved) = self.present.get(place as usize) {
                self.places[moved as usize] = place;
            }
        }
    }

    /// Calls `see` for each window of a ring, with its first place and its values.
    fn slide(
        &mut self,
        places: usize,
        window: usize,
        value: impl Fn(usize) -> u32,
        mut see: impl FnMut(usize, &Bag),
    ) {
        (0..window).for_each(|place| self.add(value(place)));
        for place in 0..places {
            see(place, self);
            self.remove(value(place));
            self.add(value((place + window) % places));
        }
        (0..window).for_each(|place| self.remove(value(place)));
    }
}

/// The number of released rows that do not cover all persons of their window.
fn uncovered(ring: &RingRows<'_>, quasi: &[Quasi<'_>], bags: &mut [Bag]) -> u64 {
    let places = ring.persons.len();
    let mut covers = vec![true; places];
    for (quasi, bag) in quasi.iter().zip(bags) {
        let value = |place: usize| quasi.values.get(ring.persons[place] as usize);
        bag.slide(places, ring.window, value, |place, bag| {
            let cell = quasi.cells.get(ring.released[place] as usize);
            covers[place] &= bag.present.iter().all(|&value| quasi.cover.covers(cell, value));
        });
    }
    covers.iter().filter(|&&covers| !covers).count() as u64
}

/// True when there is a shift below the window such that every released row has the passed-through
/// cells of the person so many places further. `rows` numbers the passed-through cells of released
/// rows, `persons` those of persons.
fn has_shift(
    ring: &RingRows<'_>,
    rows: impl Fn(RowId) -> u32,
    persons: impl Fn(RowId) -> u32,
) -> bool {
    let places = ring.persons.len();
    let wanted: Vec<u32> = ring.released.iter().map(|&row| rows(row)).collect();
    // For each prefix of `wanted` the longest shorter prefix that it ends with: where to go on
    // after a mismatch (Knuth, Morris, Pratt).
    let mut back = vec![0; places];
    for at in 1..places {
        let mut length = back[at - 1];
        while length > 0 && wanted[at] != wanted[length] {
            length = back[length - 1];
        }
        back[at] = length + usize::from(wanted[at] == wanted[length]);
    }
    let mut length = 0;
    for at in 0..places + ring.window - 1 {
        let found = persons(ring.persons[at % places]);
        while length > 0 && (length == places || wanted[length] != found) {
            length = back[length - 1];
        }
        length += usize::from(wanted[length] == found);
        if length == places {
            return true;
        }
    }
    false
}

/// Evaluates every rule on the released rows that each person could be.
fn on_windows(
    release: &Table,
    request: &Request,
    specs: &[RuleSpec],
    rings: &[RingRows<'_>],
) -> Result<Vec<RuleVerdict>> {
    // Each window belongs to one person and counts as one row.
    let of_persons = |verdict: RuleVerdict| RuleVerdict { rows: verdict.violations, ..verdict };
    let mut verdicts = Vec::new();
    for spec in specs {
        let Some(column) = spec.model.column() else {
            let mut rule = Rule::new(spec, None, GroundDistance::Equal, &request.missing);
            for ring in rings {
                let size = ring.window as u64;
                ring.released
                    .iter()
                    .for_each(|_| rule.evaluate(&ClassCounts::of_rows(size, &[], &[]), None));
            }
            verdicts.push(of_persons(RuleVerdict { measure: CANDIDATES, ..rule.verdict() }));
            continue;
        };
        let sensitive = Sensitive::new(
            coded(release, column)?,
            column,
            request,
            &RowCounts::single(release.rows()),
        );
        let ground = match &spec.model {
            ModelSpec::Closeness { distance, .. } => {
                ground_distance(*distance, column, &sensitive, request)?
            }
            _ => GroundDistance::Equal,
        };
        let mut rule = Rule::new(spec, Some(&sensitive), ground, &request.missing);
        let mut bag = Bag::new(sensitive.values.len());
        for ring in rings {
            bag.slide(
                ring.released.len(),
                ring.window,
                |place| sensitive.of(ring.released[place]),
                |_, bag| {
                    rule.evaluate(
                        &ClassCounts::of_rows(ring.window as u64, &bag.counts, &bag.present),
                        Some(&sensitive),
                    );
                },
            );
        }
        verdicts.push(of_persons(rule.verdict()));
    }
    Ok(verdicts)
}

/// The most coverage tests and pairs of the search without a proof: about ten seconds and a few
/// hundred megabytes.
const MOST_TESTS: u64 = 500_000_000;
const MOST_PAIRS: usize = 10_000_000;

/// The number, up to k, of assignments of released rows to persons that they cover such that no two
/// have a pair in common; none when there are too many pairs to search.
///
/// There are k of them exactly when every row can get k different persons so that every person is
/// taken k times (a bipartite graph in which all nodes have k edges is the union of k perfect
/// matchings). Equal rows, and equal persons, are taken together: m of the one and n of the other
/// have m n pairs.
fn disjoint_assignments(quasi: &[Quasi<'_>], rows: usize, k: u64) -> Option<u64> {
    let cells: Vec<(&Codes, usize)> =
        quasi.iter().map(|quasi| (&*quasi.cells, quasi.distinct_cells)).collect();
    let values: Vec<(&Codes, usize)> =
        quasi.iter().map(|quasi| (quasi.values, quasi.distinct_values)).collect();
    let (boxes, tuples) = (combinations(&cells, rows), combinations(&values, rows));
    let once_each = |of: &[u32]| count_combinations(of.iter().map(|&at| (at, 1)), rows);
    let (box_counts, tuple_counts): (CombinationCounts, CombinationCounts) =
        (once_each(&boxes.of), once_each(&tuples.of));
    let mut join =
        Join { quasi, boxes: &boxes, tuples: &tuples, tests: MOST_TESTS, edges: MOST_PAIRS };
    let Coverage { edges: Some(edges), .. } = join.pairs(&box_counts, &tuple_counts)? else {
        return None;
    };
    let pairs: Vec<u64> = edges
        .iter()
        .map(|&(b, tuple)| box_counts[b as usize].1 * tuple_counts[tuple as usize].1)
        .collect();
    let is_enough = |ways: u64| {
        let times = |all: &CombinationCounts| {
            all.iter().map(|&(_, rows)| rows * ways).collect::<Vec<u64>>()
        };
        greatest_within(times(&box_counts), times(&tuple_counts), &edges, &pairs)
            == rows as u64 * ways
    };
    // Most releases have k of them.
    let (mut enough, mut too_many) = (0, k + 1);
    let mut next = k;
    while enough + 1 < too_many {
        if is_enough(next) {
            enough = next
        } else {
            too_many = next
        }
        next = u64::midpoint(enough, too_many);
    }
    Some(enough)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::Seeded;

    #[test]
    fn a_shift_is_found_exactly_when_there_is_one_below_the_window() {
        let mut seeded = Seeded(9);
        let (mut found, mut beyond) = (0, 0);
        for _ in 0..5000 {
            let places = 1 + seeded.below(8);
            let window = 1 + seeded.below(places);
            let persons: Vec<u32> =
                (0..places).map(|_| u32::try_from(seeded.below(2)).unwrap()).collect();
            let turn = seeded.below(places);
            let mut rows: Vec<u32> =
                (0..places).map(|place| persons[(place + turn) % places]).collect();
            if seeded.below(3) == 0 {
                rows[0] ^= 1;
            }
            let at: Vec<RowId> = (0..).take(places).collect();
            let ring = RingRows { window, persons: &at, released: &at };
            let fits = |shift: usize| {
                (0..places).all(|place| rows[place] == persons[(place + shift) % places])
            };
            let expected = (0..window).any(fits);
            assert_eq!(
                has_shift(&ring, |row| rows[row as usize], |row| persons[row as usize]),
                expected,
                "{rows:?} {persons:?}"
            );
            found += u32::from(expected);
            beyond += u32::from(!expected && (window..places).any(fits));
        }
        assert!(found > 1000 && beyond > 100, "{found} found, {beyond} only beyond the window");
    }

    #[test]
    fn a_sliding_bag_has_the_values_of_the_window() {
        let mut seeded = Seeded(4);
        let mut bag = Bag::new(6);
        for _ in 0..500 {
            let places = 1 + seeded.below(12);
            let window = 1 + seeded.below(places);
            let values: Vec<u32> =
                (0..places).map(|_| u32::try_from(seeded.below(6)).unwrap()).collect();
            let mut seen = 0;
            bag.slide(
                places,
                window,
                |place| values[place],
                |place, bag| {
                    let here: Vec<u32> =
                        (0..window).map(|step| values[(place + step) % places]).collect();
                    let count = |value: u32| here.iter().filter(|&&other| other == value).count();
                    assert!((0..6).all(|value| bag.counts[value as usize] == count(value) as u64));
                    let mut present = bag.present.clone();
                    present.sort_unstable();
                    assert!(present.iter().copied().eq((0..6).filter(|&value| count(value) > 0)));
                    seen += 1;
                },
            );
            assert!(
                seen == places
                    && bag.present.is_empty()
                    && bag.counts.iter().all(|&count| count == 0)
            );
        }
    }
}
