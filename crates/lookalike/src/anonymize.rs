//! The one call: search, leave out what may be left out, recode.

use crate::algorithm::Algorithm;
use crate::budget::Budget;
use crate::problem::Problem;
use crate::recode::Recoding;
use crate::suppress;

/// How sure the answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The algorithm ended; no claim about the best release.
    Heuristic,
    /// The budget ran out first: valid, but coarser than it would have been.
    Stopped,
}

/// A release in codes, and how the search ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The classes and what they show.
    pub recoding: Recoding,
    /// How the search ended.
    pub status: Status,
}

/// Finds classes that hold every rule. It cannot fail: [`Problem::new`] has seen to it that there is an answer.
pub fn anonymize(problem: &Problem, algorithm: Algorithm, budget: &Budget) -> Outcome {
    let (groups, suppressed) = suppress::with_suppression(problem, algorithm, budget);
    let status = if budget.is_spent() { Status::Stopped } else { Status::Heuristic };
    Outcome { recoding: Recoding::new(problem, &groups.partition, &groups.ranges, suppressed), status }
}
#[cfg(test)]
mod tmp_adult {
    #[test]
    fn adult() {
        let bytes = zstd::decode_all(std::fs::File::open("/work/shared/data/adult_30162.csv.zst").unwrap()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let order: Vec<String> = std::fs::read_to_string("/work/shared/data/hierarchies/adult-utility/education-order.txt").unwrap().lines().map(|l| format!("\"{l}\"")).collect();
        for k in [2, 5, 10, 25, 50, 100] {
        let toml = format!("k = {k}\nrest='drop'\n[columns]\nage={{role='quasi'}}\neducation={{role='quasi',order=[{}]}}\nsex={{role='quasi'}}\nrace={{role='quasi'}}\nmarital-status={{role='quasi',hierarchy='/work/shared/data/hierarchies/adult-utility/marital-status.csv'}}\nnative-country={{role='quasi'}}\nworkclass={{role='quasi',hierarchy='/work/shared/data/hierarchies/adult-utility/workclass.csv'}}\noccupation={{role='quasi'}}\n", order.join(","));
        let problem = crate::testing::problem(&text, &toml).unwrap();
        for a in crate::Algorithm::ALL {
            let t = std::time::Instant::now();
            let out = crate::anonymize(&problem, a, &crate::Budget::unlimited());
            let el = t.elapsed();
            let l = crate::loss::loss(&problem, &out.recoding);
            eprintln!("{k} {a} tuples {} {:?} ncp {} classes {}", problem.tuples(), el, l.ncp, out.recoding.classes().len());
        }
        }
    }
}
