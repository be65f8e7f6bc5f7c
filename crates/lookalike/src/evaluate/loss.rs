//! The loss of a release, by the measures of the literature.
//!
//! Certainty penalty and its weights: J. Xu et al., Utility-Based Anonymization Using Local
//! Recoding, KDD 2006. Global certainty penalty: as used by X. He et al., PAKDD 2012.
//! Discernibility and its hierarchical form: T. Li, N. Li, DKE 2008. Distortion ratio: R. Wong et
//! al., (alpha,k)-Anonymity, KDD 2006. A class with one value has no loss on that attribute; the
//! papers leave that case open.

use rayon::prelude::*;
use serde::Serialize;

use crate::codes::{CodeRange, real};
use crate::domain::attribute::Attribute;
use crate::domain::scheme::ValueBlock;
use crate::problem::Problem;
use crate::problem::partition::{self, Piece};
use crate::problem::recoding::Recoding;

/// The loss of a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// Certainty penalty: the sum, over rows and attributes, of the weighted share of the domain
    /// that is published instead of the value.
    pub ncp: f64,
    /// `ncp` over its greatest value, between 0 and 1.
    pub gcp: f64,
    /// The part of `ncp` of each attribute, suppressed rows included.
    pub by_attribute: Vec<f64>,
    /// Discernibility: the sum of squared class sizes; a suppressed row adds the number of rows of
    /// the table.
    pub c_dm: u64,
    /// The mean class size over k; 1 is ideal.
    pub c_avg: f64,
    /// Hierarchical discernibility: the mean over rows, between 0 and 1.
    pub hdm: f64,
    /// Levels up in the taxonomies, over those of a release that publishes only the roots.
    pub distortion: f64,
}

/// Measures the loss of a release.
///
/// # Example
/// ```
/// # use lookalike::{*, evaluate::loss::loss, table::Treatment};
/// # let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// let source = table::open_text("age\n30\n35\n50\n50\n".into(), "data.csv".as_ref())?;
/// let roles = request.roles(source.names())?;
/// let problem = Problem::new(&source.read(&[Treatment::Code])?, &roles, &request)?;
/// let options = SearchOptions::new(Algorithm::Mondrian, 1);
/// let found = solve(&problem, options, &Budget::unlimited());
/// // Two rows publish [30-35], a quarter of the range from 30 to 50; two publish 50.
/// assert_eq!(loss(&problem, &found.recoding).ncp, 0.25 + 0.25);
/// # Ok::<(), lookalike::Error>(())
/// ```
pub fn loss(problem: &Problem, recoding: &Recoding) -> Loss {
    let attributes = problem.attributes();
    let rows = problem.row_count();
    let suppressed = partition::rows(recoding.suppressed());
    let mut by_attribute: Vec<f64> =
        attributes.iter().map(|attribute| attribute.weight * real(suppressed)).collect();
    let mut c_dm = suppressed * rows;
    for (at, class) in recoding.classes().iter().enumerate() {
        let size = partition::rows(class);
        c_dm += size * size;
        for (place, (attribute, lost)) in attributes.iter().zip(&mut by_attribute).enumerate() {
            let loss = match block(problem, recoding, place, class[0]) {
                Some(block) => block.loss,
                None => attribute.loss(recoding.ranges(at)[place]),
            };
            *lost += real(size) * attribute.weight * loss;
        }
    }
    let ncp: f64 = by_attribute.iter().sum();
    let weights: f64 = attributes.iter().map(|attribute| attribute.weight).sum();
    Loss {
        ncp,
        gcp: if weights > 0.0 { ncp / (real(rows) * weights) } else { 0.0 },
        by_attribute,
        c_dm,
        c_avg: real(rows) / (real(recoding.classes().len() as u64) * real(problem.k())),
        hdm: hdm(problem, recoding),
        distortion: distortion(problem, recoding),
    }
}

/// How far the released cells of one attribute are generalized.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GeneralizedShare {
    /// The weight of the attribute in the loss.
    pub weight: f64,
    /// The share of released rows whose cell has more than one value.
    pub generalized: f64,
    /// The share of released rows whose cell is the whole domain.
    pub whole: f64,
}

/// For each attribute the shares of generalized cells, whatever the attribute's weight.
pub fn generalized_shares(problem: &Problem, recoding: &Recoding) -> Vec<GeneralizedShare> {
    let attributes = problem.attributes();
    let mut rows = 0;
    let mut counts = vec![(0, 0); attributes.len()];
    for (at, class) in recoding.classes().iter().enumerate() {
        let size = partition::rows(class);
        rows += size;
        for (place, (attribute, (generalized, whole))) in
            attributes.iter().zip(&mut counts).enumerate()
        {
            let (loss, ends) = match block(problem, recoding, place, class[0]) {
                Some(block) => (block.loss, block.ends),
                None => (attribute.loss(recoding.ranges(at)[place]), recoding.ranges(at)[place]),
            };
            *generalized += if loss > 0.0 || ends.lo != ends.hi { size } else { 0 };
            *whole += if loss >= 1.0 - 1e-9 { size } else { 0 };
        }
    }
    let share = |part: u64| if rows > 0 { real(part) / real(rows) } else { 0.0 };
    let of = |(attribute, (generalized, whole)): (&Attribute, (u64, u64))| GeneralizedShare {
        weight: attribute.weight,
        generalized: share(generalized),
        whole: share(whole),
    };
    attributes.iter().zip(counts).map(of).collect()
}

/// The block of a row in a global recoding.
fn block<'a>(
    problem: &Problem,
    recoding: &'a Recoding,
    at: usize,
    piece: Piece,
) -> Option<&'a ValueBlock> {
    recoding.generalization()?.attributes[at].of(problem.code(at, piece.tuple))
}

/// For each row and attribute `(N_e - N_v) / (N - N_v)`: N_v rows have its value, N_e rows a value
/// in its published range.
fn hdm(problem: &Problem, recoding: &Recoding) -> f64 {
    let rows = problem.row_count();
    let suppressed = real(partition::rows(recoding.suppressed()));
    let width = real(problem.attributes().len() as u64);
    let of_attribute = |(at, attribute): (usize, &Attribute)| {
        let mut sum = 0.0;
        let below = rows_below(problem, at, attribute);
        let with = |lo: u32, hi: u32| below[hi as usize + 1] - below[lo as usize];
        // Rows of each block of a global recoding, which may be a set.
        let mut of_block: Vec<u64> = Vec::new();
        if let Some(blocks) =
            recoding.generalization().map(|generalization| &generalization.attributes[at])
        {
            of_block = vec![0; blocks.blocks.len()];
            for (code, &block) in (0..).zip(&blocks.of_code) {
                block.into_iter().for_each(|block| of_block[block as usize] += with(code, code));
            }
        }
        for (class, pieces) in recoding.classes().iter().enumerate() {
            let range = recoding.ranges(class)[at];
            let block = match recoding.generalization() {
                Some(all) => all.attributes[at].of_code[problem.code(at, pieces[0].tuple) as usize]
                    .map_or(0, |block| of_block[block as usize]),
                None => with(range.lo, range.hi),
            };
            for piece in pieces {
                let code = problem.code(at, piece.tuple);
                let own = with(code, code);
                if own < rows {
                    sum += f64::from(piece.count) * real(block - own) / real(rows - own);
                }
            }
        }
        sum
    };
    let sums: Vec<f64> = problem.attributes().par_iter().enumerate().map(of_attribute).collect();
    (sums.iter().sum::<f64>() + suppressed * width) / (real(rows) * width)
}

/// For each code the number of rows with a smaller code; last, the number of all rows.
fn rows_below(problem: &Problem, at: usize, attribute: &Attribute) -> Vec<u64> {
    let mut below = vec![0; attribute.codes() + 1];
    for tuple in (0u32..).take(problem.tuples()) {
        below[problem.code(at, tuple) as usize + 1] += u64::from(problem.count(tuple));
    }
    for code in 1..below.len() {
        below[code] += below[code - 1];
    }
    below
}

fn distortion(problem: &Problem, recoding: &Recoding) -> f64 {
    let of_attribute = |(at, attribute): (usize, &Attribute)| {
        let (mut risen, mut most) = (0.0, 0.0);
        for (class, pieces) in recoding.classes().iter().enumerate() {
            let range = recoding.ranges(class)[at];
            for piece in pieces {
                let (up, top) = match block(problem, recoding, at, *piece) {
                    Some(block) => block.levels_up,
                    None => attribute.levels_up(problem.code(at, piece.tuple), range),
                };
                risen += f64::from(piece.count) * f64::from(up);
                most += f64::from(piece.count) * f64::from(top);
            }
        }
        for piece in recoding.suppressed() {
            let (_, top) = attribute.levels_up(
                problem.code(at, piece.tuple),
                CodeRange::one(problem.code(at, piece.tuple)),
            );
            risen += f64::from(piece.count) * f64::from(top);
            most += f64::from(piece.count) * f64::from(top);
        }
        (risen, most)
    };
    let sums: Vec<(f64, f64)> =
        problem.attributes().par_iter().enumerate().map(of_attribute).collect();
    let (risen, most) = sums.iter().fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
    if most > 0.0 { risen / most } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::attribute::Domain;
    use crate::problem::partition::Partition;
    use crate::testing;

    /// The tuple of each row: rows in these tests are all different.
    fn tuple_of_row(problem: &Problem, row: u32) -> u32 {
        (0u32..)
            .take(problem.tuples())
            .find(|&tuple| problem.rows_of(tuple).contains(&row))
            .unwrap()
    }

    fn groups(problem: &Problem, rows: &[&[u32]]) -> Recoding {
        let mut groups = Partition::default();
        for group in rows {
            groups.push(
                group.iter().map(|&row| Piece { tuple: tuple_of_row(problem, row), count: 1 }),
            );
        }
        Recoding::of(problem, &groups, Vec::new())
    }

    const SIX_POINTS: &str = "x,y\n10,60\n20,70\n20,50\n50,20\n50,10\n60,15\n";
    const TWO_QUASI: &str = "k = 2\ncolumns = { x = { role = \"quasi\", weight = 50 }, y = { role \
        = \"quasi\", weight = 60 } }";

    /// Xu et al. 2006, example 1. With the spans 50 and 60 as weights the penalty is the total
    /// length of intervals.
    #[test]
    fn the_six_points_have_uncertainty_190_in_pairs_and_150_in_threes() {
        let problem = testing::problem(SIX_POINTS, TWO_QUASI).unwrap();
        let pairs = loss(&problem, &groups(&problem, &[&[0, 1], &[2, 3], &[4, 5]]));
        let threes = loss(&problem, &groups(&problem, &[&[0, 1, 2], &[3, 4, 5]]));
        assert!(
            (pairs.ncp - 190.0).abs() < 1e-9 && (threes.ncp - 150.0).abs() < 1e-9,
            "{} {}",
            pairs.ncp,
            threes.ncp
        );
        assert_eq!((pairs.c_dm, threes.c_dm), (12, 18));
        assert!((pairs.c_avg - 1.0).abs() < 1e-12 && (threes.c_avg - 1.5).abs() < 1e-12);
    }

    /// Xu et al. 2006, figure 3 and examples 2 and 3: a beside {{b, c, d}, {e, f, g}}, of which d
    /// and e are in different parts.
    #[test]
    fn a_and_d_lose_1_while_d_and_e_lose_six_sevenths() {
        let text = "v\na\nb\nc\nd\ne\nf\ng\n";
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("v.csv");
        let rows = [
            "a;a;a;*",
            "b;bc;bcdefg;*",
            "c;bc;bcdefg;*",
            "d;d;bcdefg;*",
            "e;e;bcdefg;*",
            "f;fg;bcdefg;*",
            "g;fg;bcdefg;*",
        ];
        std::fs::write(&file, rows.join("\n")).unwrap();
        let toml = format!(
            "k = 1\ncolumns = {{ v = {{ role = \"quasi\", hierarchy = '{}' }} }}",
            file.display()
        );
        let problem = testing::problem(text, &toml).unwrap();
        let attribute = &problem.attributes()[0];
        let lost = |a: u32, b: u32| {
            let code = |row| CodeRange::one(problem.code(0, tuple_of_row(&problem, row)));
            attribute.loss(code(a).join(code(b)))
        };
        assert!((lost(0, 3) - 1.0).abs() < 1e-12, "a and d");
        assert!((lost(3, 4) - 6.0 / 7.0).abs() < 1e-12, "d and e");
        assert!((lost(1, 2) - 2.0 / 7.0).abs() < 1e-12, "b and c share a parent");
        assert!(lost(2, 2).abs() < 1e-12, "one value loses nothing");
    }

    /// Li and Li 2008: of 1000 records 50 are Inc and 200 Not-inc; Self-employed covers both.
    #[test]
    fn self_employed_loses_4_19ths_for_inc_and_a_sixteenth_for_not_inc() {
        let mut text = "work\n".to_string();
        text += &"Inc\n".repeat(50);
        text += &"Not-inc\n".repeat(200);
        text += &"Private\n".repeat(750);
        let mut problem_text =
            "k = 1\ncolumns = { work = { role = \"quasi\", hierarchy = ".to_string();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("work.csv");
        std::fs::write(&file, "Inc;Self-employed;*\nNot-inc;Self-employed;*\nPrivate;Private;*\n")
            .unwrap();
        problem_text += &format!("'{}' }} }}", file.display());
        let problem = testing::problem(&text, &problem_text).unwrap();
        let mut merged = Partition::default();
        merged.push([Piece { tuple: 0, count: 50 }, Piece { tuple: 1, count: 200 }]);
        merged.push([Piece { tuple: 2, count: 750 }]);
        let expected = (50.0 * 4.0 / 19.0 + 200.0 / 16.0) / 1000.0;
        let found = loss(&problem, &Recoding::of(&problem, &merged, Vec::new()));
        assert!((found.hdm - expected).abs() < 1e-12);
        assert!(
            (found.distortion - 250.0 / 2000.0).abs() < 1e-12,
            "a quarter of the rows rose one of two levels"
        );
        let mut alone = Partition::default();
        alone.push([Piece { tuple: 0, count: 50 }]);
        alone.push([Piece { tuple: 2, count: 750 }]);
        let found =
            loss(&problem, &Recoding::of(&problem, &alone, vec![Piece { tuple: 1, count: 200 }]));
        assert!(
            (found.hdm - 0.2).abs() < 1e-12 && (found.ncp - 200.0).abs() < 1e-12,
            "a suppressed row loses 1"
        );
        assert_eq!(found.c_dm, 50 * 50 + 750 * 750 + 200 * 1000);
    }

    #[test]
    fn missing_beside_present_loses_all_and_weights_multiply() {
        let problem = testing::problem(
            "age,sex\n20,f\n,f\n30,m\n40,m\n",
            "k = 2\ncolumns = { age = { role = \"quasi\", weight = 3 }, sex = { role = \"quasi\" \
             } }",
        )
        .unwrap();
        let found = loss(&problem, &groups(&problem, &[&[0, 1], &[2, 3]]));
        assert!((found.ncp - 2.0 * 3.0 * (1.0 + 0.5)).abs() < 1e-12);
        assert!((found.gcp - found.ncp / 16.0).abs() < 1e-12);
    }

    #[test]
    fn distortion_counts_the_levels_of_published_intervals_beside_missing_values_too() {
        let toml = "k = 2\n[output]\nsnap = true\n[columns]\nage = { role = \"quasi\", hierarchy \
            = { intervals = [10, 20] } }\n";
        let problem = testing::problem(
            "age,\n20,\n29,\n21,\n39,\n,\n,\n40,\n",
            &format!("rest = \"drop\"\n{toml}"),
        )
        .unwrap();
        let of = |rows: &[&[u32]]| loss(&problem, &groups(&problem, rows)).distortion;
        // Three levels: ten years, twenty years, everything. The two missing values are one tuple.
        let found = of(&[&[0, 1], &[2, 3], &[4, 6], &[4]]);
        assert!((found - (2.0 * 1.0 + 2.0 * 2.0 + 2.0 * 3.0) / 21.0).abs() < 1e-12, "{found}");
    }

    #[test]
    fn groups_with_the_same_published_values_are_one_class() {
        let problem =
            testing::problem("x\n1\n1\n2\n2\n", "k = 2\ncolumns = { x = { role = \"quasi\" } }")
                .unwrap();
        let mut crossed = Partition::default();
        crossed.push([Piece { tuple: 0, count: 1 }, Piece { tuple: 1, count: 1 }]);
        crossed.push([Piece { tuple: 0, count: 1 }, Piece { tuple: 1, count: 1 }]);
        let recoding = Recoding::of(&problem, &crossed, Vec::new());
        assert_eq!((recoding.classes().len(), loss(&problem, &recoding).c_dm), (1, 16));
    }

    #[test]
    fn the_penalty_never_falls_as_a_range_grows() {
        let problem = testing::problem(
            &testing::random_table(3, 60),
            "k = 2\nrest = \"drop\"\n\
            [columns]\nage = { role = \"quasi\" }\nheight = { role = \"quasi\" }\ncity = { role = \
            \"quasi\" }",
        )
        .unwrap();
        for attribute in problem.attributes() {
            let codes = u32::try_from(attribute.codes()).unwrap();
            for lo in 0..codes {
                for hi in lo..codes {
                    let inner = attribute.loss(CodeRange { lo, hi });
                    assert!((0.0..=1.0).contains(&inner));
                    let cover = attribute.cover(CodeRange { lo, hi });
                    assert!(
                        (attribute.loss(cover) - inner).abs() < 1e-12,
                        "the published range has the loss of the range that it covers"
                    );
                    assert_eq!(attribute.cover(cover), cover);
                    if hi + 1 < codes {
                        assert!(attribute.loss(CodeRange { lo, hi: hi + 1 }) >= inner);
                    }
                }
            }
        }
        assert!(matches!(&problem.attributes()[2].domain, Domain::Tree(tree) if tree.is_flat()));
    }
}
