//! What cannot be met is refused with what is feasible, and what would have to go is found.

use super::*;

fn why(models: Vec<Model>, counts: &[u64]) -> String {
    let names = ["diagnosis".to_string()];
    Privacy::new(models, vec![counts.to_vec()])
        .nearest(&class(counts), &names)
        .map_or_else(|error| error.reason().to_string(), |()| String::new())
}

#[test]
fn the_frequency_in_the_table_is_the_least_feasible_alpha() {
    assert!(
        holds(alpha("37/120"), &[37, 36, 35, 12], &[37, 36, 35, 12]),
        "lemma 1: equal is enough"
    );
    assert!(!holds(alpha("36/120"), &[37, 36, 35, 12], &[37, 36, 35, 12]));
    let said = why(vec![alpha("0.3")], &[37, 36, 35, 12]);
    assert_eq!(
        said,
        "alpha = 0.3 on column `diagnosis` cannot be met: one value fills 37 of 120 rows, so the \
         smallest feasible alpha is 37/120 \
         (or 0.308334)"
    );
    assert!(
        holds(alpha("0.308334"), &[37, 36, 35, 12], &[37, 36, 35, 12]),
        "the decimal is rounded up"
    );
    assert_eq!(why(vec![alpha("37/120")], &[37, 36, 35, 12]), "");
    let said = why(vec![alpha("1/4")], &[40, 40, 20]);
    assert!(
        said.ends_with(
            "is 2/5 (or 0.4); as l-diversity, l = 4 cannot be met and the greatest feasible l is 2"
        ),
        "{said}"
    );
    let hints = |model: Model| {
        let privacy = Privacy::new(vec![model], vec![vec![40, 40, 20]]);
        let names = ["diagnosis".to_string()];
        privacy.nearest(&class(&[40, 40, 20]), &names).unwrap_err().hints().to_vec()
    };
    let rare = crate::Hint::ProtectValues { column: "diagnosis".to_string() };
    assert_eq!(hints(alpha("1/4")), [rare], "a common value often needs no protection");
    let named = Model::Alpha { column: 0, alpha: ratio("1/4"), values: Some(vec![0, 2]) };
    assert!(hints(named.clone()).is_empty(), "it names values already");
    let said = why(vec![named], &[20, 40, 20]);
    assert!(
        said.contains("the named values fill 40 of 80 rows") && said.ends_with("is 1/2 (or 0.5)"),
        "{said}"
    );
}

/// The two spellings of the least feasible alpha in a refusal, as they would be typed.
fn named_alphas(said: &str) -> [Ratio; 2] {
    let (_, named) = said.split_once("the smallest feasible alpha is ").unwrap();
    let (exact, rest) = named.split_once(" (or ").unwrap();
    [ratio(exact), ratio(rest.split_once(')').unwrap().0)]
}

/// Wong et al. 2006, lemma 1.
#[test]
fn alpha_below_the_frequency_is_refused_with_the_frequency_exactly() {
    let counts = [29, 71];
    let model =
        |alpha: &str| vec![Model::Alpha { column: 0, alpha: ratio(alpha), values: Some(vec![0]) }];
    assert_eq!(
        why(model("0.28"), &counts),
        "alpha = 0.28 on column `diagnosis` cannot be met: the named values fill 29 of 100 rows, \
         so the smallest feasible alpha is \
         29/100 (or 0.29)"
    );
    // In floating point 0.29 * 100 is below 29.
    assert_eq!(why(model("0.29"), &counts), "");
    assert_ne!(why(model("0.28999999999999"), &counts), "");
    let thirds = [7, 14];
    let said = why(model("0.33"), &thirds);
    assert!(said.ends_with("is 1/3 (or 0.333334)"), "{said}");
    assert_eq!(
        (why(model("1/3"), &thirds), why(model("0.333334"), &thirds)),
        (String::new(), String::new())
    );
    assert_ne!(why(model("0.33333333333333"), &thirds), "", "no decimal is a third");
}

#[test]
fn the_alpha_that_a_refusal_names_is_accepted_and_the_next_smaller_one_is_not() {
    let mut random = Random(12);
    let mut refused = [0; 3];
    for _ in 0..3000 {
        let domain = 1 + random.below(5);
        let counts: Vec<u64> = (0..domain).map(|_| random.below(60) as u64).collect();
        let size: u64 = counts.iter().sum();
        let some: Vec<Code> = (0..).take(domain).filter(|_| random.below(2) == 0).collect();
        let together =
            |values: &[Code]| values.iter().map(|&value| counts[value as usize]).sum::<u64>();
        let one = vec![random.code(domain)];
        let most = counts.iter().copied().max().unwrap();
        let cases = [(together(&one), Some(one)), (together(&some), Some(some)), (most, None)];
        for (case, (part, values)) in cases.into_iter().enumerate() {
            if part == 0 {
                continue;
            }
            let said = |alpha: Ratio| {
                why(vec![Model::Alpha { column: 0, alpha, values: values.clone() }], &counts)
            };
            let less = said(Ratio::new(part - 1, size).unwrap());
            assert_ne!(less, "", "{part} of {size}");
            let [exact, decimal] = named_alphas(&less);
            assert_eq!(exact.num() * size, part * exact.den(), "{less}");
            assert_eq!((said(exact), said(decimal)), (String::new(), String::new()), "{less}");
            assert_ne!(
                said(Ratio::new(part * 1_000_000 - 1, size * 1_000_000).unwrap()),
                "",
                "{part} of {size}"
            );
            refused[case] += 1;
        }
    }
    assert!(refused.iter().all(|&times| times > 1000), "{refused:?}");
}

#[test]
fn every_rule_that_fails_is_named_with_what_is_feasible() {
    let said = why(vec![Model::K(11), alpha("1"), Model::Distinct { column: 0, l: 4 }], &[5, 3, 2]);
    assert_eq!(
        said,
        "k = 11 cannot be met: the table has 10 rows, so the largest feasible k is 10; distinct l \
         = 4 on column `diagnosis` cannot be \
         met: it has 3 different values, so the greatest feasible l is 3"
    );
    assert!(why(vec![entropy("3.5")], &[7, 7, 7]).ends_with("the greatest feasible l is 3"));
    let said = why(vec![entropy("3")], &[5, 3, 2]);
    assert!(said.ends_with("the greatest feasible l is 2.800094"), "{said}");
    assert!(
        holds(entropy("2.800094"), &[5, 3, 2], &[5, 3, 2])
            && !holds(entropy("2.800095"), &[5, 3, 2], &[5, 3, 2])
    );
    assert!(why(vec![entropy("1.5")], &[4]).ends_with("the greatest feasible l is 1"));
    let said = why(vec![recursive("2", 3)], &[5, 3, 2]);
    assert!(
        said.ends_with(
            "with l = 3, c must be above 5/2, such as 2.500001; with c = 2 the \
        greatest feasible l is 2"
        ),
        "{said}"
    );
    let said = why(vec![recursive("0.1", 4)], &[5, 3, 2]);
    assert!(
        said.ends_with(
            "with l = 4 no c is feasible, as it has 3 different values; with l = 1, c must be \
             above 5/10, such as 0.500001"
        ),
        "{said}"
    );
    assert!(
        holds(recursive("0.500001", 1), &[5, 3, 2], &[5, 3, 2])
            && holds(recursive("2", 2), &[5, 3, 2], &[5, 3, 2])
    );
    assert_eq!(why(vec![Model::K(1)], &[0]), "the table has no rows to release");
    assert_eq!(
        why(
            vec![closeness("0", GroundDistance::Ordered), closeness("0", GroundDistance::Equal)],
            &[5, 3, 2]
        ),
        ""
    );
}

#[test]
fn the_whole_table_holds_exactly_when_nearest_accepts_it() {
    each_random_case(6, 1500, |model, one, _, _| {
        assert_eq!(
            why(vec![model.clone()], one).is_empty(),
            holds(model.clone(), one, one),
            "{model:?} {one:?}"
        );
    });
}

/// Removes what `excess` names until it names nothing; what is left, and how often it was asked.
fn thin(privacy: &Privacy, counts: &[u64]) -> (Vec<u64>, usize) {
    let mut left = counts.to_vec();
    for asked in 1.. {
        match privacy.excess(&class(&left)) {
            Some(excess) => {
                assert!(excess.rows >= 1);
                left[excess.code as usize] -= excess.rows;
            }
            None => return (left, asked),
        }
    }
    unreachable!("the loop ends or runs on")
}

#[test]
fn removing_the_excess_leaves_the_largest_part_that_holds() {
    let mut random = Random(8);
    let (mut thinned, mut hopeless) = ([0; 9], [0; 9]);
    for _ in 0..3000 {
        let domain = 1 + random.below(4);
        let counts = random_counts(&mut random, domain);
        for model in random_models(&mut random, domain) {
            if matches!(model, Model::Closeness { .. }) || holds(model.clone(), &counts, &counts) {
                continue;
            }
            let kind = kind(&model);
            let privacy = Privacy::new(vec![model.clone()], vec![counts.clone()]);
            // Every part of the table, by brute force.
            let mut parts = vec![Vec::new()];
            for &count in &counts {
                parts = parts
                    .iter()
                    .flat_map(|part| (0..=count).map(|c| [&part[..], &[c]].concat()))
                    .collect();
            }
            let largest = parts
                .iter()
                .filter(|part| privacy.holds(&class(part)))
                .map(|part| part.iter().sum::<u64>())
                .max();
            let (left, asked) = thin(&privacy, &counts);
            match largest {
                Some(size) => {
                    assert!(privacy.holds(&class(&left)), "{model:?} {counts:?} {left:?}");
                    assert_eq!(left.iter().sum::<u64>(), size, "{model:?} {counts:?} {left:?}");
                    assert!(asked <= 2 * domain + 1, "{asked} {model:?} {counts:?}");
                    thinned[kind] += 1;
                }
                None => {
                    assert_eq!(left, counts, "nothing is removed in vain: {model:?}");
                    hopeless[kind] += 1;
                }
            }
        }
    }
    assert!(
        [1, 2, 4, 5].iter().all(|&kind| thinned[kind] > 30 && hopeless[kind] > 5),
        "{thinned:?} {hopeless:?}"
    );
    assert!(
        [0, 3].iter().all(|&kind| thinned[kind] == 0 && hopeless[kind] > 5),
        "{thinned:?} {hopeless:?}"
    );
}

#[test]
fn the_excess_is_found_at_once_in_a_long_table() {
    let privacy = Privacy::new(vec![alpha("0.4")], vec![vec![45, 45, 10]]);
    assert_eq!(
        privacy.excess(&class(&[45, 45, 10])),
        Some(Excess { column: 0, code: 0, rows: 25 })
    );
    assert_eq!(thin(&privacy, &[45, 45, 10]), (vec![20, 20, 10], 3));
    let privacy = Privacy::new(vec![entropy("2.5")], Vec::new());
    let (left, asked) = thin(&privacy, &[3_000_000_000, 900_000, 800_000, 1]);
    assert_eq!(
        (&left[1..], asked),
        (&[900_000, 800_000, 1][..], 3),
        "a first cut and one row more"
    );
    assert!(
        privacy.holds(&class(&left)) && !privacy.holds(&class(&sum(&left, &[1, 0, 0, 0]))),
        "{left:?}"
    );
}

#[test]
fn nothing_is_removed_for_one_rule_when_another_has_no_way_out() {
    let both = Privacy::new(vec![alpha("0.5"), Model::Distinct { column: 0, l: 4 }], Vec::new());
    assert_eq!(both.excess(&class(&[8, 1, 1])), None);
    let small = Privacy::new(vec![alpha("0.5"), Model::K(11)], Vec::new());
    assert_eq!(small.excess(&class(&[8, 1, 1])), None);
    let met = Privacy::new(vec![alpha("0.8"), Model::K(10)], Vec::new());
    assert_eq!(met.excess(&class(&[8, 1, 1])), None);
}
