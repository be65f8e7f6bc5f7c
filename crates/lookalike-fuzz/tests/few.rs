//! A few hundred cases a target; `cargo run --release -p lookalike-fuzz` runs as many as you like.

use lookalike_fuzz::{TARGETS, case};

#[test]
fn no_parser_panics_and_no_law_is_broken() {
    for target in TARGETS {
        let accepted = (0..300).filter(|&seed| (target.run)(&case(&target, seed))).count();
        assert!(
            (10..300).contains(&accepted),
            "{}: {accepted} of 300 were accepted: the cases test nothing",
            target.name
        );
    }
}

#[test]
fn samples_are_accepted_and_a_seed_makes_the_same_case_again() {
    for target in TARGETS {
        for sample in (target.samples)() {
            assert!((target.run)(&sample), "{}: {}", target.name, String::from_utf8_lossy(&sample));
        }
        if target.name != "proof" {
            assert!(
                (0..20).all(|seed| case(&target, seed) == case(&target, seed)),
                "{}",
                target.name
            );
        }
    }
}
