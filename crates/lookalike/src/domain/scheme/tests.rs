//! The schemes against brute force over all partitions, and the worked examples of Li and Li 2008.

use std::collections::BTreeSet;

use super::shape::Shape;
use super::{BlockExtent, ChoiceState, Choices, Decision, Direction, Scheme};
use crate::domain::attribute::{Attribute, Domain};
use crate::domain::taxonomy::TreeBuilder;
use crate::domain::taxonomy::tests::random_tree;

type AtomPartition = Vec<Vec<u32>>;

fn attribute(tree: crate::domain::taxonomy::Taxonomy) -> Attribute {
    Attribute { name: "a".into(), weight: 1.0, domain: Domain::Tree(tree) }
}

fn shape(tree: &crate::domain::taxonomy::Taxonomy) -> Shape {
    let codes: Vec<u32> = (0..).take(tree.leaves()).collect();
    Shape::new(&attribute(tree.clone()), &codes)
}

/// Figure 1: eight values of work-class, numbered from 1 to 8 in the paper.
fn work_class() -> Shape {
    let mut sketch = TreeBuilder::default();
    sketch.push("*", 0, 2);
    for (group, values) in [
        ("Government", vec!["ChoiceState-gov", "Local-gov", "Federal-gov"]),
        ("Private (all)", vec!["Private"]),
        ("Self-employed", vec!["Inc", "Not-inc"]),
        ("Unemployed", vec!["Without-pay", "Never-worked"]),
    ] {
        let group = sketch.push(group, 0, 1);
        for value in values {
            sketch.push(value, group, 0);
        }
    }
    shape(&sketch.build().0)
}

fn flat(values: usize) -> Shape {
    shape(&crate::domain::taxonomy::Taxonomy::flat(
        (0..values).map(|value| value.to_string()).collect(),
        "*",
    ))
}

/// The blocks as sets of atoms, counted from 1 as in the paper.
fn partition(least: &[u32]) -> AtomPartition {
    let firsts: BTreeSet<u32> = least.iter().copied().collect();
    let block = |&first: &u32| {
        (1..).zip(least).filter(|&(_, &other)| other == first).map(|(atom, _)| atom).collect()
    };
    firsts.iter().map(block).collect()
}

/// Every partition that the enumeration visits, in its order.
fn enumerated(choices: &Choices, direction: Direction) -> Vec<AtomPartition> {
    let (mut met, mut open) = (Vec::new(), vec![choices.open()]);
    while let Some(state) = open.pop() {
        let order: Vec<u32> = choices.open_in(&state).collect();
        let (steps, rest) = choices.steps(&state, direction, &order);
        met.push(partition(&choices.blocks(&rest, 0, BlockExtent::Joined)));
        open.extend(steps);
    }
    met
}

/// The number of valid partitions by the formulas of the paper; none when it is 2^128 or more.
fn valid_partitions(scheme: Scheme, shape: &Shape) -> Option<u128> {
    match scheme {
        Scheme::Bhs => Some(shape.levels().len() as u128 + 1),
        Scheme::Ops => 1u128.checked_shl(u32::try_from(shape.atoms.len().saturating_sub(1)).ok()?),
        Scheme::Sps => bell(shape.atoms.len()),
        Scheme::Ghs => by_node(shape, |below| product(below)?.checked_add(1)),
        Scheme::Gops => by_node(shape, intervals),
        Scheme::Gsps => by_node(shape, sets),
    }
}

/// Counts each inner node from the counts of its children; an atom counts 1.
fn by_node(shape: &Shape, node: impl Fn(&[u128]) -> Option<u128>) -> Option<u128> {
    let mut counts: Vec<u128> = Vec::with_capacity(shape.inner.len());
    for inner in &shape.inner {
        let below: Vec<u128> = inner
            .children
            .iter()
            .map(|child| child.inner.map_or(1, |inner| counts[inner as usize]))
            .collect();
        counts.push(node(&below)?);
    }
    Some(counts.last().copied().unwrap_or(1))
}

fn product(below: &[u128]) -> Option<u128> {
    below.iter().try_fold(1u128, |all, &one| all.checked_mul(one))
}

/// Children in a row form runs. A run of one child may be divided further; a longer run may not.
fn intervals(below: &[u128]) -> Option<u128> {
    // By the number of children so far, the number of ways.
    let mut ways = vec![1u128];
    for (at, &alone) in below.iter().enumerate() {
        let runs = ways[..at].iter().try_fold(0u128, |sum, &before| sum.checked_add(before))?;
        ways.push(ways[at].checked_mul(alone)?.checked_add(runs)?);
    }
    ways.last().copied()
}

/// Children form sets. A set of one child may be divided further; a larger set may not.
fn sets(below: &[u128]) -> Option<u128> {
    // By the number of children in larger sets, the ways to divide the others: elementary
    // symmetric sums.
    let mut alone = vec![1u128];
    for &ways in below {
        let mut next = vec![0u128; alone.len() + 1];
        for (together, &before) in alone.iter().enumerate() {
            next[together] = next[together].checked_add(before.checked_mul(ways)?)?;
            next[together + 1] = next[together + 1].checked_add(before)?;
        }
        alone = next;
    }
    // Partitions of n things without a part of one: those of n + 1 things in which the last is with
    // another, shifted: B(n) = a(n) + a(n + 1).
    let mut all = 0u128;
    let mut without_ones = 1u128;
    for (together, &ways) in alone.iter().enumerate() {
        all = all.checked_add(ways.checked_mul(without_ones)?)?;
        without_ones = bell(together)?.checked_sub(without_ones)?;
    }
    Some(all)
}

/// The number of partitions of a set of so many things.
fn bell(things: usize) -> Option<u128> {
    let mut row = vec![1u128];
    for _ in 0..things {
        let mut next = vec![*row.last().expect("a row is never empty")];
        for &above in &row {
            next.push(next.last().expect("it has a first").checked_add(above)?);
        }
        row = next;
    }
    row.first().copied()
}

/// All partitions of the atoms, by brute force.
fn all(atoms: usize) -> Vec<Vec<u32>> {
    let mut found: Vec<Vec<u32>> = vec![Vec::new()];
    for atom in 0u32..u32::try_from(atoms).unwrap() {
        let longer = |least: &Vec<u32>| {
            let mut blocks: Vec<u32> = least.clone();
            blocks.sort_unstable();
            blocks.dedup();
            blocks.push(atom);
            blocks
                .into_iter()
                .map(|block| [least.as_slice(), &[block]].concat())
                .collect::<Vec<_>>()
        };
        found = found.iter().flat_map(longer).collect();
    }
    found
}

/// The definitions of the paper, read literally.
fn is_valid(scheme: Scheme, shape: &Shape, least: &[u32]) -> bool {
    let blocks = partition(least);
    // Groups as sets of atoms, counted from 1, with their level; single values are groups too.
    let mut groups: Vec<(u32, Vec<u32>)> = Vec::new();
    let mut inner: Vec<Vec<u32>> = Vec::new();
    for node in &shape.inner {
        let below = |child: &super::shape::Child| {
            child.inner.map_or(vec![child.first + 1], |at| inner[at as usize].clone())
        };
        let atoms: Vec<u32> = node.children.iter().flat_map(below).collect();
        groups.push((node.level, atoms.clone()));
        inner.push(atoms);
    }
    let children: Vec<Vec<Vec<u32>>> = shape
        .inner
        .iter()
        .map(|node| {
            node.children
                .iter()
                .map(|child| {
                    child.inner.map_or(vec![child.first + 1], |at| inner[at as usize].clone())
                })
                .collect()
        })
        .collect();
    let is_interval = |block: &Vec<u32>| block.windows(2).all(|pair| pair[1] == pair[0] + 1);
    // Two values of different children of a node: both children whole.
    let is_guided = |block: &Vec<u32>| {
        children.iter().all(|children| {
            let touched: Vec<_> = children
                .iter()
                .filter(|child| child.iter().any(|atom| block.contains(atom)))
                .collect();
            touched.len() < 2
                || touched.iter().all(|child| child.iter().all(|atom| block.contains(atom)))
        })
    };
    let is_node =
        |block: &Vec<u32>| block.len() == 1 || groups.iter().any(|(_, atoms)| atoms == block);
    match scheme {
        Scheme::Sps => true,
        Scheme::Ops => blocks.iter().all(is_interval),
        Scheme::Gsps => blocks.iter().all(is_guided),
        Scheme::Gops => blocks.iter().all(|block| is_interval(block) && is_guided(block)),
        Scheme::Ghs => blocks.iter().all(is_node),
        Scheme::Bhs => (0..=shape.levels().last().copied().unwrap_or(0)).any(|level| {
            // The highest groups at or below the level.
            let mut expected: Vec<Vec<u32>> =
                (1..=u32::try_from(least.len()).unwrap()).map(|atom| vec![atom]).collect();
            for (_, atoms) in groups.iter().filter(|(at, _)| *at <= level) {
                expected.retain(|block| !block.iter().all(|atom| atoms.contains(atom)));
                expected.push(atoms.clone());
            }
            expected.sort();
            expected == blocks
        }),
    }
}

#[test]
fn every_scheme_meets_exactly_its_valid_partitions_once_and_counts_them() {
    let mut shapes = vec![work_class(), flat(1), flat(5)];
    shapes.extend(
        (0..60).map(random_tree).map(|tree| shape(&tree)).filter(|shape| shape.atoms.len() <= 7),
    );
    assert!(shapes.len() > 12, "{}", shapes.len());
    for shape in &shapes {
        for scheme in Scheme::ALL {
            let mut expected: Vec<AtomPartition> = all(shape.atoms.len())
                .iter()
                .filter(|least| is_valid(scheme, shape, least))
                .map(|least| partition(least))
                .collect();
            expected.sort();
            assert_eq!(
                valid_partitions(scheme, shape),
                Some(expected.len() as u128),
                "{scheme} {shape:?}"
            );
            let choices = Choices::new(&[(scheme, shape)]);
            for direction in [Direction::BottomUp, Direction::TopDown] {
                let mut met = enumerated(&choices, direction);
                met.sort();
                assert_eq!(met, expected, "{scheme} {direction:?} {shape:?}");
            }
        }
    }
}

#[test]
fn work_class_has_3_9_40_128_67_and_4140_generalizations() {
    let counts =
        Scheme::ALL.map(|scheme| (scheme.name(), valid_partitions(scheme, &work_class()).unwrap()));
    assert_eq!(
        counts,
        [("bhs", 3), ("ghs", 9), ("gops", 40), ("ops", 128), ("gsps", 67), ("sps", 4140)]
    );
}

#[test]
fn sets_are_counted_by_bell_numbers_as_long_as_they_fit() {
    let bell = [1, 1, 2, 5, 15, 52, 203, 877, 4140];
    for (values, count) in bell.into_iter().enumerate().skip(1) {
        assert_eq!(valid_partitions(Scheme::Sps, &flat(values)), Some(count));
        assert_eq!(
            valid_partitions(Scheme::Gsps, &flat(values)),
            Some(count),
            "without groups nothing guides"
        );
        assert_eq!(valid_partitions(Scheme::Gops, &flat(values)), Some(1 << (values - 1)));
    }
    for (values, count) in [(5, 52), (6, 203), (7, 877), (8, 4140)] {
        let choices = Choices::new(&[(Scheme::Sps, &flat(values))]);
        assert_eq!(enumerated(&choices, Direction::BottomUp).len(), count);
    }
    assert_eq!(valid_partitions(Scheme::Sps, &flat(200)), None, "more than 2^128");
    assert_eq!(valid_partitions(Scheme::Ops, &flat(129)), None);
}

/// The node of the enumeration tree that stands for a partition of the first attribute, nothing
/// done on the others.
fn node_of(choices: &Choices, wanted: &[&[u32]]) -> ChoiceState {
    let mut open = vec![choices.open()];
    while let Some(state) = open.pop() {
        if partition(&choices.blocks(&state, 0, BlockExtent::Joined)) == wanted {
            return state;
        }
        let order: Vec<u32> = choices.about(0).filter(|&choice| state.is_open(choice)).collect();
        let mut sorted =
            choices.open_in(&state).filter(|choice| order.contains(choice)).collect::<Vec<_>>();
        sorted.dedup();
        open.extend(choices.steps(&state, Direction::BottomUp, &sorted).0);
    }
    panic!("{wanted:?} is not in the tree");
}

/// The children of a node, by their partitions of the first attribute.
fn children(choices: &Choices, wanted: &[&[u32]]) -> Vec<AtomPartition> {
    let state = node_of(choices, wanted);
    let order: Vec<u32> = choices.open_in(&state).collect();
    let (steps, _) = choices.steps(&state, Direction::BottomUp, &order);
    let mut found: Vec<AtomPartition> = steps
        .iter()
        .map(|state| partition(&choices.blocks(state, 0, BlockExtent::Joined)))
        .collect();
    found.sort();
    found
}

fn sorted(partitions: &[&[&[u32]]]) -> Vec<AtomPartition> {
    let mut all: Vec<AtomPartition> = partitions
        .iter()
        .map(|blocks| blocks.iter().map(|block| block.to_vec()).collect())
        .collect();
    all.sort();
    all
}

/// Examples 1 and 2.
#[test]
fn the_two_partitions_of_five_values_have_three_and_four_children() {
    let choices = Choices::new(&[(Scheme::Sps, &flat(5))]);
    assert_eq!(
        children(&choices, &[&[1], &[2, 3], &[4], &[5]]),
        sorted(&[&[&[1], &[2, 3, 4], &[5]], &[&[1], &[2, 3], &[4, 5]], &[&[1], &[2, 3, 5], &[4]]])
    );
    assert_eq!(
        children(&choices, &[&[1, 4], &[2], &[3], &[5]]),
        sorted(&[
            &[&[1, 4], &[2, 3], &[5]],
            &[&[1, 4], &[2], &[3, 5]],
            &[&[1, 4], &[2, 5], &[3]],
            &[&[1, 4, 5], &[2], &[3]]
        ])
    );
}

/// Example 3: two attributes, the first with four values of which two are joined.
#[test]
fn a_node_of_two_attributes_has_three_children_by_the_first_and_one_by_the_second() {
    let (four, two) = (flat(4), flat(2));
    let choices = Choices::new(&[(Scheme::Sps, &four), (Scheme::Sps, &two)]);
    assert_eq!(
        children(&choices, &[&[1, 2], &[3], &[4]]),
        sorted(&[
            &[&[1, 2, 3], &[4]],
            &[&[1, 2, 4], &[3]],
            &[&[1, 2], &[3, 4]],
            &[&[1, 2], &[3], &[4]]
        ]),
        "the last has its second attribute joined"
    );
}

/// Examples 4 and 5: from {1},{2,3},{4},{5,6},{7},{8} the hierarchy of work-class lets 8 join 7
/// alone, or with 7 the whole of {5,6}.
#[test]
fn guided_children_are_whole_groups() {
    for scheme in [Scheme::Gsps, Scheme::Gops] {
        let choices = Choices::new(&[(scheme, &work_class())]);
        assert_eq!(
            children(&choices, &[&[1], &[2, 3], &[4], &[5, 6], &[7], &[8]]),
            sorted(&[
                &[&[1], &[2, 3], &[4], &[5, 6, 7, 8]],
                &[&[1], &[2, 3], &[4], &[5, 6], &[7, 8]]
            ])
        );
    }
}

/// The conditions as the paper prints them, in figure 6: two blocks may be merged when only those
/// between them are single values.
#[test]
fn the_printed_conditions_meet_one_partition_of_four_values_twice() {
    let printed = |partition: &AtomPartition, others_too: bool| -> Vec<AtomPartition> {
        let mut found = Vec::new();
        for i in 1..partition.len() {
            for j in 0..i {
                let is_single = |at: usize| partition[at].len() == 1;
                let behind = if others_too { partition.len() } else { i };
                if is_single(i)
                    && partition[i][0] > *partition[j].last().unwrap()
                    && (j + 1..behind).all(is_single)
                {
                    let mut merged = partition.clone();
                    let moved = merged.remove(i);
                    merged[j].extend(moved);
                    found.push(merged);
                }
            }
        }
        found
    };
    // How many are made, each being the parent of others once.
    let met = |values: u32, others_too: bool| {
        let first: AtomPartition = (1..=values).map(|value| vec![value]).collect();
        let (mut made, mut known, mut open) = (1, BTreeSet::from([first.clone()]), vec![first]);
        while let Some(partition) = open.pop() {
            for child in printed(&partition, others_too) {
                made += 1;
                if known.insert(child.clone()) {
                    open.push(child);
                }
            }
        }
        made
    };
    assert_eq!((met(4, false), met(8, false)), (16, 5194));
    assert_eq!((met(4, true), met(8, true)), (15, 4140));
    assert_eq!(
        enumerated(&Choices::new(&[(Scheme::Sps, &flat(4))]), Direction::BottomUp).len(),
        15
    );
}

#[test]
fn what_is_open_lies_between_what_is_joined_and_what_may_be() {
    for seed in 0..40 {
        let shape = shape(&random_tree(seed));
        for scheme in Scheme::ALL {
            let choices = Choices::new(&[(scheme, &shape)]);
            let mut state = choices.open();
            let mut dice = crate::domain::taxonomy::tests::Dice(seed);
            loop {
                let Some(choice) = choices.open_in(&state).next() else { break };
                let (fine, coarse) = (
                    choices.blocks(&state, 0, BlockExtent::Joined),
                    choices.blocks(&state, 0, BlockExtent::JoinedAndOpen),
                );
                // Atoms of one block in the finer partition are in one block of the coarser one.
                assert!((0..fine.len()).all(|atom| coarse[atom] == coarse[fine[atom] as usize]));
                let decision = if dice.roll(2) == 0 { Decision::Joined } else { Decision::Apart };
                assert!(
                    choices.settle(&mut state, choice, decision),
                    "an open choice can be made either way"
                );
            }
            assert_eq!(
                choices.blocks(&state, 0, BlockExtent::Joined),
                choices.blocks(&state, 0, BlockExtent::JoinedAndOpen)
            );
        }
    }
}
