//! The judge of non-homogeneous releases: every person could be any of k released rows, every
//! released row any of k persons.
//!
//! Equal rows say nothing here. What counts is which released row covers which person of the
//! source, and that there are k ways to give all released rows to all persons at once that have no
//! pair in common: then no way of reasoning with the quasi-identifiers alone leaves a person fewer
//! than k rows. A [`Proof`] names rings on which that is plain to see; without one the ways are
//! searched for.

use rayon::prelude::*;
use serde::Serialize;

use super::ground::{Ground, ground};
use super::join::{Counted, Found, Join, Quasi, counted, distinct};
use super::matching::greatest_within;
use super::rules::{Rule, Sensitive, Tally};
use super::truth::{self, Finding, LIMITS, Method, Sides, Truth};
use super::{RuleVerdict, coded};
use crate::codes::{Codes, RowId};
use crate::error::{Error, Result};
use crate::request::{ModelSpec, Request, RuleSpec};
use crate::table::Table;

/// Which released rows each person could be, ring by ring. It is as secret as the source: it tells
/// who could be who far better than the release does, and with the shift that it implies, who is
/// who.
///
/// The released row of a place covers the persons of as many places, from its own on, as the ring's
/// window has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// The rings in order.
    pub rings: Vec<ProofRing>,
    /// For each place the row of the source, counted from 0.
    pub persons: Vec<RowId>,
    /// For each place the released row, counted from 0.
    pub released: Vec<RowId>,
}

/// How long a ring is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProofRing {
    /// Places.
    pub places: usize,
    /// Places that a released row covers.
    pub window: usize,
}

/// In what sense a release holds that is not homogeneous.
#[derive(Clone, Debug, Serialize)]
pub struct NonHomogeneous {
    /// Every person could be any of at least so many released rows, every released row any of as
    /// many persons, and there are as many ways to give all rows to all persons that have no pair
    /// in common.
    pub candidates: u64,
    /// How many rings the proof has; none when there was no proof and the ways were searched for in
    /// the whole table.
    pub rings: Option<u64>,
}

/// What the judge found: the sense in which the release holds, every rule, and the comparison with
/// the source.
pub(super) type Findings = (NonHomogeneous, Vec<RuleVerdict>, Truth);

/// Judges by a proof: on its rings nothing is left to search for.
pub(super) fn by_proof(
    release: &Table,
    source: &Table,
    request: &Request,
    specs: &[RuleSpec],
    proof: &Proof,
) -> Result<Findings> {
    let Sides { mut truth, carried, quasi } = truth::sides(release, source, request)?;
    fits(proof, release.rows(), source.rows())?;
    let rings: Vec<Ring<'_>> = proof.rings().collect();
    let bags = || quasi.iter().map(|quasi| Bag::new(quasi.known)).collect::<Vec<Bag>>();
    let broken: u64 =
        rings.par_iter().map_init(bags, |bags, ring| uncovered(ring, &quasi, bags)).sum();
    let others = truth::by_carried(&carried, (release.rows(), source.rows()));
    let in_release = |row: RowId| others.of[source.rows() + row as usize];
    let in_source = |row: RowId| others.of[row as usize];
    let without = rings.par_iter().filter(|ring| !has_shift(ring, in_release, in_source));
    let exchanged: u64 = without.map(|ring| ring.released.len() as u64).sum();
    truth.cells_checked = Method::ByProof;
    truth.violations = broken + exchanged;
    truth.rows_matched = release.rows() as u64 - truth.violations.min(release.rows() as u64);
    truth.carried_unchanged &= exchanged == 0;
    if exchanged == 0 {
        truth.state(
            Finding::Ok,
            "on every ring each released row has the other cells of a source row that it covers, as many places on for all",
        );
    } else {
        let why = "do not have the other cells of source rows as many places on for all: the release, or the proof, is another's";
        truth.state(Finding::Broken, format!("{exchanged} released rows on some rings {why}"));
    }
    let candidates = rings.iter().map(|ring| ring.window as u64).min().unwrap_or(0);
    let sense = NonHomogeneous { candidates, rings: Some(rings.len() as u64) };
    if broken == 0 {
        truth.state(
            Finding::Ok,
            format!(
                "on every ring each source row could be any of {candidates} released rows or more, each released row any of as many source \
                 rows, and as many ways to pair all of them have no pair in common"
            ),
        );
    } else {
        truth.state(
            Finding::Broken,
            format!("{broken} released rows do not cover all the source rows that the proof says they do"),
        );
    }
    Ok((sense, on_windows(release, request, specs, &rings)?, truth))
}

/// Judges without a proof: searches the whole table for k ways to give rows to persons that have no
/// pair in common.
pub(super) fn by_search(
    release: &Table,
    source: &Table,
    request: &Request,
    specs: &[RuleSpec],
) -> Result<Findings> {
    let needs_proof = |why: &str| {
        Error::data(format!(
            "{why}: verify it with the proof that was kept when it was made (--proof FILE)"
        ))
    };
    if specs.iter().any(|spec| spec.model.column().is_some()) {
        return Err(needs_proof(
            "a non-homogeneous release says nothing about rules on sensitive columns by itself",
        ));
    }
    if release.rows() != source.rows() {
        return Err(needs_proof(
            "rows were left out, and a non-homogeneous release does not tell which",
        ));
    }
    let mut sides = truth::sides(release, source, request)?;
    truth::compare(&mut sides, (release.rows(), source.rows()), request.output.order, LIMITS);
    let Sides { mut truth, quasi, .. } = sides;
    let asked = |spec: &RuleSpec| if let ModelSpec::K(k) = spec.model { k } else { 1 };
    let k = specs.iter().map(asked).max().unwrap_or(1);
    let candidates = disjoint_ways(&quasi, release.rows(), k)
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
            format!("no {k} ways to pair all released rows with source rows are without a pair in common"),
        );
    }
    let judged = |spec: &RuleSpec| {
        let mut rule = Rule::new(spec, None, Ground::Equal, &request.missing);
        rule.ask(&Tally { size: candidates, counts: &[], present: &[] }, None);
        RuleVerdict { measure: CANDIDATES, ..rule.verdict() }
    };
    Ok((NonHomogeneous { candidates, rings: None }, specs.iter().map(judged).collect(), truth))
}

const CANDIDATES: &str = "fewest candidates";

/// One ring of a proof.
struct Ring<'a> {
    window: usize,
    persons: &'a [RowId],
    released: &'a [RowId],
}

impl Proof {
    fn rings(&self) -> impl Iterator<Item = Ring<'_>> {
        self.rings.iter().scan(0, |from, ring| {
            let places = *from..*from + ring.places;
            *from = places.end;
            Some(Ring {
                window: ring.window,
                persons: &self.persons[places.clone()],
                released: &self.released[places],
            })
        })
    }
}

/// A proof has each released row once, no person twice, and rings that their windows fit into.
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
            "the proof does not belong to this release: it does not have each row once",
        ))
    }
}

/// Values in a window, which slides on row by row.
struct Bag {
    counts: Vec<u32>,
    /// The values with a count above 0, each once, and where each stands among them.
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

    /// Shows each window of a ring: the place it begins at, and what is in it.
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

/// How many released rows do not cover the persons of their window.
fn uncovered(ring: &Ring<'_>, quasi: &[Quasi<'_>], bags: &mut [Bag]) -> u64 {
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

/// True when every released row has the other cells of the person so many places on, for some
/// number of places below the window. `rows` numbers the other cells of released rows, `persons`
/// those of persons.
fn has_shift(ring: &Ring<'_>, rows: impl Fn(RowId) -> u32, persons: impl Fn(RowId) -> u32) -> bool {
    let places = ring.persons.len();
    let wanted: Vec<u32> = ring.released.iter().map(|&row| rows(row)).collect();
    // For each beginning of what is wanted, the longest shorter one that it ends with: where to go
    // on after a mismatch.
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

/// Asks every rule about the released rows that each person could be.
fn on_windows(
    release: &Table,
    request: &Request,
    specs: &[RuleSpec],
    rings: &[Ring<'_>],
) -> Result<Vec<RuleVerdict>> {
    // Each window is one person's, and counts for one row.
    let of_persons = |verdict: RuleVerdict| RuleVerdict { rows: verdict.violations, ..verdict };
    let mut verdicts = Vec::new();
    for spec in specs {
        let Some(column) = spec.model.column() else {
            let mut rule = Rule::new(spec, None, Ground::Equal, &request.missing);
            for ring in rings {
                let size = ring.window as u64;
                ring.released
                    .iter()
                    .for_each(|_| rule.ask(&Tally { size, counts: &[], present: &[] }, None));
            }
            verdicts.push(of_persons(RuleVerdict { measure: CANDIDATES, ..rule.verdict() }));
            continue;
        };
        let sensitive = Sensitive::new(coded(release, column)?, column, request);
        let ground = match &spec.model {
            ModelSpec::Closeness { distance, .. } => {
                ground(*distance, column, &sensitive, request)?
            }
            _ => Ground::Equal,
        };
        let mut rule = Rule::new(spec, Some(&sensitive), ground, &request.missing);
        let mut bag = Bag::new(sensitive.values.len());
        for ring in rings {
            bag.slide(
                ring.released.len(),
                ring.window,
                |place| sensitive.of(ring.released[place]),
                |_, bag| {
                    rule.ask(
                        &Tally {
                            size: ring.window as u64,
                            counts: &bag.counts,
                            present: &bag.present,
                        },
                        Some(&sensitive),
                    );
                },
            );
        }
        verdicts.push(of_persons(rule.verdict()));
    }
    Ok(verdicts)
}

/// How many ways there are, up to k, to give every released row a person that it covers so that no
/// two ways agree anywhere; none when there are too many pairs to tell.
///
/// There are k such ways exactly when every row can be given k different persons so that every
/// person is given k times (a bipartite graph in which all have k edges falls into k perfect
/// matchings). Rows that show the same, and persons that are the same, are taken together: m of the
/// one and n of the other have m n pairs.
fn disjoint_ways(quasi: &[Quasi<'_>], rows: usize, k: u64) -> Option<u64> {
    let shown: Vec<(&Codes, usize)> =
        quasi.iter().map(|quasi| (&*quasi.cells, quasi.shown)).collect();
    let known: Vec<(&Codes, usize)> =
        quasi.iter().map(|quasi| (quasi.values, quasi.known)).collect();
    let (boxes, tuples) = (distinct(&shown, rows), distinct(&known, rows));
    let (show, have): (Counted, Counted) = (counted(boxes.of.clone()), counted(tuples.of.clone()));
    let mut join =
        Join { quasi, boxes: &boxes, tuples: &tuples, tests: LIMITS.tests, edges: LIMITS.edges };
    let Found { edges: Some(edges), .. } = join.pairs(&show, &have)? else { return None };
    let pairs: Vec<u64> = edges
        .iter()
        .map(|&(shown, tuple)| show[shown as usize].1 * have[tuple as usize].1)
        .collect();
    let is_enough = |ways: u64| {
        let times = |all: &Counted| all.iter().map(|&(_, rows)| rows * ways).collect::<Vec<u64>>();
        greatest_within(times(&show), times(&have), &edges, &pairs) == rows as u64 * ways
    };
    // Most releases have as many as they should.
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
            let ring = Ring { window, persons: &at, released: &at };
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
    fn a_bag_that_slides_has_what_is_in_the_window() {
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
                    assert!(
                        (0..6).all(|value| bag.counts[value as usize] as usize == count(value))
                    );
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
