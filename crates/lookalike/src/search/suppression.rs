//! Suppression of rows where that lowers the total loss, within the allowance.
//!
//! A suppressed row loses as much as a row whose every value is `*`, so one is only worth
//! suppressing when the rest of its class gains more. Two ways are tried and the better one kept:
//! take such rows out of the classes that were found, or take the likeliest ones out before the
//! search and search again.

use std::collections::BinaryHeap;

use crate::codes::{CodeRange, real};
use crate::problem::Problem;
use crate::problem::partition::{self, Partition, Piece};
use crate::problem::privacy::Tally;
use crate::rng::{Draws, SUPPRESSING};
use crate::search::budget::Budget;
use crate::search::ranges::{Ends, total_loss};
use crate::search::stages::{self, RangedClasses};
use crate::search::{Algorithm, SearchOptions};

/// The classes to publish and the rows to suppress.
pub(crate) fn with_suppression(
    problem: &Problem,
    search: SearchOptions,
    budget: &Budget,
) -> (RangedClasses, Vec<Piece>) {
    let mandatory = problem.mandatory().to_vec();
    let allowance = problem.allowance() - partition::rows(&mandatory);
    // Where there are two searches and each takes what time it gets, they share it.
    let is_twice =
        search.algorithm.is_anytime() && allowance > 0 && problem.stages_in_order().len() == 1;
    let first =
        if is_twice { budget.part(search.tuning.suppress_first_share) } else { budget.part(1.0) };
    let groups = stages::run(problem, search, &problem.pieces_without(&mandatory), &first);
    // With rules on several column sets a class cannot give up a row alone: the classes it came
    // from have rules too.
    if allowance == 0 || problem.stages_in_order().len() > 1 {
        return (groups, mandatory);
    }
    let most_tuples = search.tuning.suppress_tuples;
    let mut draws = search.key.draws(SUPPRESSING);
    let mut best = lighten(problem, &groups, allowance, Keep::Holding, most_tuples, &mut draws);
    best.1.extend_from_slice(&mandatory);
    budget.keep(loss(problem, &best.0, &best.1), || {
        (best.0.partition.clone(), best.0.ranges.clone())
    });
    // In the classes of `auto` an outlier stands with rows that make no class without it: in those
    // of a plain search it can be found.
    let plain = search.algorithm.is_anytime().then(|| {
        stages::run(
            problem,
            SearchOptions { algorithm: Algorithm::Mondrian, ..search },
            &problem.pieces_without(&mandatory),
            budget,
        )
    });
    let outliers = lighten(
        problem,
        plain.as_ref().unwrap_or(&groups),
        allowance,
        Keep::OneRow,
        most_tuples,
        &mut draws,
    )
    .1;
    let without: Vec<Piece> = join(&outliers, &mandatory);
    let rest = problem.pieces_without(&without);
    let mut whole = problem.tally();
    problem.count_into(&mut whole, &rest);
    if !rest.is_empty() && problem.stages_in_order()[0].privacy.holds(&whole) && !budget.is_spent()
    {
        let again = stages::run(problem, search, &rest, budget);
        let (lighter, suppressed) = lighten(
            problem,
            &again,
            problem.allowance() - partition::rows(&without),
            Keep::Holding,
            most_tuples,
            &mut draws,
        );
        let suppressed = join(&suppressed, &without);
        if loss(problem, &lighter, &suppressed) < loss(problem, &best.0, &best.1) {
            best = (lighter, suppressed);
        }
    }
    let (lighter, suppressed) = best;
    if loss(problem, &lighter, &suppressed) < loss(problem, &groups, &mandatory) {
        (lighter, join(&suppressed, &[]))
    } else {
        (groups, mandatory)
    }
}

/// The condition on a class when rows leave it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// Every rule.
    Holding,
    /// One row: only to find out which rows are worth suppressing before another search.
    OneRow,
}

/// Takes the rows out whose leaving gains most for each row, one tuple after the other; of equals
/// any, at random.
fn lighten(
    problem: &Problem,
    groups: &RangedClasses,
    allowance: u64,
    keep: Keep,
    most_tuples: usize,
    draws: &mut Draws,
) -> (RangedClasses, Vec<Piece>) {
    let mut tally = problem.tally();
    let mut classes: Vec<Vec<Piece>> = groups.partition.iter().map(<[Piece]>::to_vec).collect();
    // The first of equal tuples is taken, and the class with the greatest rank.
    classes.iter_mut().for_each(|class| draws.shuffle(class));
    let ranks: Vec<u64> = classes.iter().map(|_| draws.next_u64()).collect();
    let mut heap: BinaryHeap<Offer> = (0..classes.len())
        .filter_map(|class| {
            offer(problem, &classes[class], (class, ranks[class]), keep, most_tuples, &mut tally)
        })
        .collect();
    let (mut suppressed, mut left) = (Vec::new(), allowance);
    while let Some(best) = heap.pop() {
        let piece = classes[best.class][best.at];
        if u64::from(piece.count) > left {
            continue;
        }
        left -= u64::from(piece.count);
        suppressed.push(piece);
        classes[best.class].swap_remove(best.at);
        heap.extend(offer(
            problem,
            &classes[best.class],
            (best.class, best.rank),
            keep,
            most_tuples,
            &mut tally,
        ));
    }
    let mut lighter = RangedClasses {
        partition: Partition::default(),
        ranges: Vec::with_capacity(groups.ranges.len()),
    };
    for class in classes {
        lighter.ranges.extend(problem.ranges(&class));
        lighter.partition.push(class);
    }
    (lighter, suppressed)
}

/// The best tuple to take out of a class. Ordered by gain, then by the random rank of the class, so
/// that the heap's order is one and the same.
#[derive(PartialEq)]
struct Offer {
    gain: f64,
    rank: u64,
    class: usize,
    at: usize,
}

impl Eq for Offer {}

impl Ord for Offer {
    fn cmp(&self, other: &Offer) -> std::cmp::Ordering {
        self.gain
            .total_cmp(&other.gain)
            .then((self.rank, other.class, other.at).cmp(&(other.rank, self.class, self.at)))
    }
}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Offer) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

fn offer(
    problem: &Problem,
    class: &[Piece],
    (index, rank): (usize, u64),
    keep: Keep,
    most_tuples: usize,
    tally: &mut Tally,
) -> Option<Offer> {
    if !(2..=most_tuples).contains(&class.len()) {
        return None;
    }
    let size = partition::rows(class);
    let weights: f64 = problem.attributes().iter().map(|attribute| attribute.weight).sum();
    let mut ends = vec![Ends::NONE; problem.attributes().len()];
    for (at, ends) in ends.iter_mut().enumerate() {
        class.iter().for_each(|piece| ends.add(problem.code(at, piece.tuple)));
    }
    let now = real(size) * row_loss(problem, ends.iter().map(|ends| ends.range()));
    let mut best: Option<Offer> = None;
    for (at, piece) in class.iter().enumerate() {
        let code = |attribute| problem.code(attribute, piece.tuple);
        if !ends.iter().enumerate().any(|(attribute, ends)| ends.is_alone(code(attribute))) {
            continue;
        }
        let without = row_loss(
            problem,
            ends.iter().enumerate().map(|(attribute, ends)| ends.without(code(attribute))),
        );
        let count = f64::from(piece.count);
        let gain = (now - (real(size) - count) * without - count * weights) / count;
        if gain > 0.0
            && best.as_ref().is_none_or(|best| gain > best.gain)
            && (keep == Keep::OneRow || holds_without(problem, class, at, tally))
        {
            best = Some(Offer { gain, rank, class: index, at });
        }
    }
    best
}

fn holds_without(problem: &Problem, class: &[Piece], at: usize, tally: &mut Tally) -> bool {
    let privacy = &problem.stages_in_order()[0].privacy;
    if partition::rows(class) - u64::from(class[at].count) < privacy.k() {
        return false;
    }
    if !privacy.needs_sensitive() {
        return true;
    }
    tally.clear();
    problem.count_into(tally, &class[..at]);
    problem.count_into(tally, &class[at + 1..]);
    privacy.holds(tally)
}

/// Loss of all rows, the suppressed ones in full.
fn loss(problem: &Problem, groups: &RangedClasses, suppressed: &[Piece]) -> f64 {
    let width = problem.attributes().len();
    let weights: f64 = problem.attributes().iter().map(|attribute| attribute.weight).sum();
    let classes = groups.partition.iter().zip(groups.ranges.chunks_exact(width));
    let of_classes = total_loss(classes.map(|(class, ranges)| {
        (partition::rows(class), row_loss(problem, ranges.iter().copied()))
    }));
    of_classes + real(partition::rows(suppressed)) * weights
}

/// Loss of one row published with these ranges.
fn row_loss(problem: &Problem, ranges: impl Iterator<Item = CodeRange>) -> f64 {
    problem
        .attributes()
        .iter()
        .zip(ranges)
        .map(|(attribute, range)| attribute.weight * attribute.loss(range))
        .sum()
}

/// Both lists, with one piece a tuple.
fn join(some: &[Piece], others: &[Piece]) -> Vec<Piece> {
    partition::joined(&mut [some, others].concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tests::options;
    use crate::testing;

    fn toml(share: &str) -> String {
        format!(
            "k = 3\nrest = \"drop\"\n[limits]\nsuppress = \"{share}\"\n[columns]\nage = {{ role = \"quasi\" }}\nheight = {{ role = \"quasi\" }}\ncity = {{ role = \"quasi\" }}\nillness = {{ role = \"sensitive\", distinct = 2 }}\n"
        )
    }

    #[test]
    fn an_outlier_is_suppressed_when_its_class_gains_more() {
        let text = "x\n1\n1\n1\n2\n2\n2\n900\n";
        let problem = testing::problem(
            text,
            "k = 3\n[limits]\nsuppress = \"20%\"\n[columns]\nx = { role = \"quasi\" }",
        )
        .unwrap();
        let (groups, suppressed) =
            with_suppression(&problem, options(Algorithm::Mondrian, 1), &Budget::unlimited());
        assert_eq!(suppressed, [Piece { tuple: 2, count: 1 }]);
        assert!(
            (loss(&problem, &groups, &suppressed) - 1.0).abs() < 1e-12,
            "only the outlier loses"
        );
    }

    #[test]
    fn suppression_never_loses_more_stays_within_its_share_and_keeps_the_rules() {
        let mut helped = 0;
        for seed in 0..40 {
            let text = testing::random_table(seed, 120);
            let without = testing::problem(&text, &toml("0%")).unwrap();
            let with = testing::problem(&text, &toml("10%")).unwrap();
            for algorithm in Algorithm::homogeneous().filter(|algorithm| !algorithm.is_global()) {
                let search = SearchOptions { steps: Some(40), ..options(algorithm, 1) };
                let (groups, suppressed) = with_suppression(&without, search, &Budget::unlimited());
                assert!(suppressed.is_empty());
                let before = loss(&without, &groups, &suppressed);
                let (groups, suppressed) = with_suppression(&with, search, &Budget::unlimited());
                assert!(loss(&with, &groups, &suppressed) <= before);
                assert!(partition::rows(&suppressed) <= 12);
                helped += u32::from(!suppressed.is_empty());
                for class in groups.partition.iter() {
                    let mut tally = with.tally();
                    with.count_into(&mut tally, class);
                    assert!(with.stages_in_order()[0].privacy.holds(&tally));
                }
                let kept: u64 = groups.partition.iter().map(partition::rows).sum();
                assert_eq!(kept + partition::rows(&suppressed), 120);
            }
        }
        assert!(helped > 20, "{helped}");
    }
}
