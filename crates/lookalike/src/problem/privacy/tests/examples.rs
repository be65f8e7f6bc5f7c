//! Models on classes counted by hand: limits, published examples, great numbers.

use super::*;

#[test]
fn an_empty_class_does_not_hold() {
    for model in [
        Model::K(1),
        alpha("1"),
        entropy("1"),
        closeness("1", GroundDistance::Equal),
        closeness("1", GroundDistance::Ordered),
    ] {
        assert!(!holds(model, &[0, 0], &[1, 1]));
    }
    assert!(!Privacy::new(Vec::new(), Vec::new()).holds(&Tally::new(&[])));
}

#[test]
fn k_alone_needs_no_sensitive_counts() {
    let privacy = Privacy::new(vec![Model::K(3), Model::K(5)], Vec::new());
    assert_eq!((privacy.k(), privacy.needs_sensitive()), (5, false));
    let mut class = Tally::new(&[]);
    class.add(&[], 4);
    assert!(!privacy.holds(&class));
    class.add(&[], 1);
    assert!(privacy.holds(&class));
    let sensitive = Privacy::new(vec![alpha("0.5")], vec![vec![1, 1]]);
    assert_eq!((sensitive.k(), sensitive.needs_sensitive()), (1, true));
}

#[test]
fn a_share_at_the_limit_holds_and_one_row_more_does_not() {
    let rare = |counts: &[u64]| {
        holds(
            Model::Alpha { column: 0, alpha: ratio("0.29"), values: Some(vec![0]) },
            counts,
            counts,
        )
    };
    assert!(rare(&[29, 71]) && !rare(&[30, 70]));
    assert!(holds(alpha("0.29"), &[29, 29, 29, 13], &[29, 29, 29, 13]));
    assert!(!holds(alpha("0.29"), &[30, 29, 29, 12], &[30, 29, 29, 12]));
    let together = |counts: &[u64]| {
        holds(
            Model::Alpha { column: 0, alpha: ratio("1/2"), values: Some(vec![0, 2]) },
            counts,
            counts,
        )
    };
    assert!(together(&[2, 5, 3]) && !together(&[3, 5, 3]));
}

#[test]
fn the_published_alpha_example_holds() {
    // Two classes of two rows, HIV in one row of each, and one of two rows without:
    // 0.5-deassociated.
    for counts in [[1, 1, 0], [1, 0, 1], [0, 1, 1]] {
        assert!(holds(alpha("0.5"), &counts, &[2, 2, 2]));
    }
    assert!(!holds(alpha("0.5"), &[2, 0, 0], &[2, 2, 2]));
}

#[test]
fn equally_frequent_values_have_exactly_their_entropy() {
    for l in 1..200_u64 {
        for count in [1, 3, 7, 1000, 20_000_000] {
            let counts = vec![count; usize::try_from(l).unwrap()];
            assert!(
                holds(Model::Entropy { column: 0, l: Ratio::new(l, 1).unwrap() }, &counts, &counts),
                "{l} values, {count} each"
            );
            let above = Ratio::new(l * 10_000_000_000 + 1, 10_000_000_000).unwrap();
            assert!(
                !holds(Model::Entropy { column: 0, l: above }, &counts, &counts),
                "{l} values, {count} each"
            );
        }
    }
    assert!(!holds(entropy("3"), &[2, 1, 1], &[2, 1, 1]));
    assert!(
        !holds(entropy("3"), &[1_000_001, 1_000_000, 999_999], &[1_000_000; 3]),
        "one row off an equal split"
    );
}

#[test]
fn recursive_is_strict() {
    assert!(!holds(recursive("2", 2), &[6, 2, 1], &[6, 2, 1]), "6 < 2 * 3 is false");
    assert!(holds(recursive("2.000001", 2), &[6, 2, 1], &[6, 2, 1]));
    assert!(holds(recursive("2", 2), &[5, 2, 1], &[5, 2, 1]));
    assert!(
        !holds(recursive("1000", 4), &[5, 2, 1], &[5, 2, 1]),
        "three values are never 4-diverse"
    );
    assert!(!holds(recursive("1000", u64::MAX), &[5, 2, 1], &[5, 2, 1]));
}

#[test]
fn the_salary_example_of_t_closeness_has_its_published_distances() {
    // Nine salaries, 3k to 11k: {3k,4k,5k} is 0.375 away from the table, {6k,8k,11k} 0.167.
    let salaries = [1; 9];
    let (low, mixed) = ([1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0, 1]);
    assert!(holds(closeness("0.375", GroundDistance::Ordered), &low, &salaries));
    assert!(!holds(closeness("0.374999999", GroundDistance::Ordered), &low, &salaries));
    assert!(holds(closeness("1/6", GroundDistance::Ordered), &mixed, &salaries));
    assert!(!holds(closeness("0.166666", GroundDistance::Ordered), &mixed, &salaries));
    // Two thirds of either class must change its value.
    assert!(
        holds(closeness("2/3", GroundDistance::Equal), &low, &salaries)
            && !holds(closeness("0.66", GroundDistance::Equal), &mixed, &salaries)
    );
}

#[test]
fn earth_moves_cheaply_within_a_branch_and_dearly_across() {
    let tree = |t| {
        closeness(
            t,
            GroundDistance::Hierarchical {
                nodes: vec![node(0, 1, 1), node(2, 3, 1), node(0, 3, 2)],
            },
        )
    };
    // A quarter of the class from one leaf to its sibling: a quarter of 1/2.
    assert!(
        holds(tree("1/8"), &[2, 0, 1, 1], &[1, 1, 1, 1])
            && !holds(tree("0.1249"), &[2, 0, 1, 1], &[1, 1, 1, 1])
    );
    // Half a class across the root: half of 1.
    assert!(
        holds(tree("1/2"), &[1, 1, 0, 0], &[1, 1, 1, 1])
            && !holds(tree("0.4999"), &[1, 1, 0, 0], &[1, 1, 1, 1])
    );
}

#[test]
fn one_value_is_at_no_distance_and_absent_values_take_no_rank() {
    for ground in [
        GroundDistance::Equal,
        GroundDistance::Ordered,
        GroundDistance::Hierarchical { nodes: vec![node(0, 0, 1)] },
    ] {
        assert!(holds(closeness("0", ground), &[3], &[9]));
    }
    assert!(holds(closeness("1/2", GroundDistance::Ordered), &[2, 0, 0], &[2, 0, 2]));
    assert!(
        !holds(closeness("0.49", GroundDistance::Ordered), &[2, 0, 0], &[2, 0, 2]),
        "two values are at distance 1, whatever stands between"
    );
}

#[test]
#[should_panic(expected = "covers every code")]
fn a_ground_tree_that_misses_a_code_is_refused() {
    holds(
        closeness("1", GroundDistance::Hierarchical { nodes: vec![node(0, 1, 1)] }),
        &[1, 1, 1],
        &[1, 1, 1],
    );
}

#[test]
fn tables_of_four_billion_rows_do_not_overflow() {
    let half = u64::from(u32::MAX) / 2;
    let totals = [half, half, 1];
    let long = Ratio::new(u64::MAX - 1, u64::MAX).unwrap();
    let short = Ratio::new(1, u64::MAX).unwrap();
    let tree = GroundDistance::Hierarchical {
        nodes: vec![node(0, 1, u32::MAX - 1), node(0, 2, u32::MAX)],
    };
    for ground in [GroundDistance::Equal, GroundDistance::Ordered, tree] {
        assert!(holds(
            Model::Closeness { column: 0, t: short, ground: ground.clone() },
            &totals,
            &totals
        ));
        assert!(!holds(
            Model::Closeness { column: 0, t: short, ground: ground.clone() },
            &[half, half, 0],
            &totals
        ));
        assert!(holds(Model::Closeness { column: 0, t: long, ground }, &[half, half, 0], &totals));
    }
    assert!(!holds(Model::Alpha { column: 0, alpha: short, values: None }, &totals, &totals));
    assert!(holds(Model::Alpha { column: 0, alpha: long, values: None }, &totals, &totals));
    assert!(holds(Model::Recursive { column: 0, c: long, l: 1 }, &totals, &totals));
    assert!(!holds(Model::Recursive { column: 0, c: short, l: 1 }, &totals, &totals));
    assert!(holds(entropy("2"), &totals, &totals) && !holds(entropy("2.001"), &totals, &totals));
}

#[test]
fn wide_products_are_compared_like_narrow_ones() {
    let mut random = Random(5);
    for _ in 0..2000 {
        let mut small = || random.next() >> (random.next() % 64);
        let (a, b, c, d) = (small(), small() >> 1, small(), small() >> 1);
        let narrow = u128::from(a) * u128::from(b) <= u128::from(c) * u128::from(d);
        assert_eq!(product_at_most((a.into(), b), (c.into(), d)), narrow);
        // Both sides 2^60 times as great.
        assert_eq!(product_at_most((u128::from(a) << 60, b), (u128::from(c) << 60, d)), narrow);
    }
    assert!(product_at_most((u128::MAX, u64::MAX), (u128::MAX, u64::MAX)));
    assert!(!product_at_most((u128::MAX, u64::MAX), (u128::MAX - 1, u64::MAX)));
}
