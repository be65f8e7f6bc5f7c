//! The share of rows that are unique on some of the quasi-identifiers.

use lookalike::Problem;
use rayon::prelude::*;

/// The share of the rows (or whole persons) that are alone with their values on these
/// attributes.
pub(super) fn unique_share(problem: &Problem, attributes: &[usize]) -> f64 {
    let mut order: Vec<u32> = (0u32..).take(problem.tuples()).collect();
    let codes = |tuple: u32| attributes.iter().map(move |&at| problem.code(at, tuple));
    order.par_sort_unstable_by(|&one, &other| codes(one).cmp(codes(other)));
    let groups = order.chunk_by(|&one, &other| codes(one).eq(codes(other)));
    let is_alone = |group: &&[u32]| group.len() == 1 && problem.count(group[0]) == 1;
    let unique = groups.filter(is_alone).count();
    #[allow(clippy::cast_precision_loss, reason = "a share for people")]
    let share = unique as f64 / problem.row_count().max(1) as f64;
    share
}
