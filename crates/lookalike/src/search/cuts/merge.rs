//! Exact counts decide: cells that do not satisfy the rules on their own are united with others.

use super::{CutNode, Cuts};
use crate::error::Result;
use crate::problem::{PartCounts, PartRules};

/// Some cells that are one.
#[derive(Debug)]
struct Union {
    cells: Vec<u32>,
    counts: PartCounts,
}

impl Union {
    fn with(&mut self, other: Union) {
        self.cells.extend(other.cells);
        self.counts.append(&other.counts);
    }
}

/// A subtree: cells that satisfy the rules, and one that does not.
#[derive(Debug, Default)]
struct Settled {
    good: Vec<Union>,
    bad: Option<Union>,
}

/// The cells united until each of them satisfies the rules, in the order of the tree, with the rows
/// of each. A cell that does not is united with the smallest one of the nearest subtree that has
/// any: the others stay as they are. Cells without rows are united with others too.
///
/// # Errors
/// [`Infeasible`](crate::ErrorKind::Infeasible) when all cells together do not satisfy the rules.
pub(crate) fn merge(cuts: Cuts, rules: &PartRules, counts: &[PartCounts]) -> Result<Cuts> {
    let mut left: Vec<Option<PartCounts>> = counts.iter().cloned().map(Some).collect();
    let Settled { good, bad } = settle(&cuts.tree, rules, &mut left);
    if let Some(bad) = bad {
        return Err(rules.infeasible(&bad.counts));
    }
    let mut of_cell = vec![0; cuts.cells as usize];
    let mut order: Vec<&Union> = good.iter().collect();
    order.sort_by_key(|union| union.cells.iter().min());
    for (number, union) in (0u32..).zip(&order) {
        union.cells.iter().for_each(|&cell| of_cell[cell as usize] = number);
    }
    let rows = order.iter().map(|union| union.counts.rows()).collect();
    let cells = u32::try_from(order.len()).expect("no more cells than before");
    let tree = cuts.tree.renumbered(&mut |cell| of_cell[cell as usize]);
    Ok(Cuts { cells, rows: Some(rows), tree })
}

/// Each cell is at its first leaf: the counts of the others are taken.
fn settle(node: &CutNode, rules: &PartRules, counts: &mut [Option<PartCounts>]) -> Settled {
    let (mut good, mut bad) = match node {
        CutNode::Cell { cell } => {
            let union = |counts| Union { cells: vec![*cell], counts };
            (Vec::new(), counts[*cell as usize].take().map(union))
        }
        CutNode::Cut(cut) => {
            let (mut left, right) =
                (settle(&cut.left, rules, counts), settle(&cut.right, rules, counts));
            left.good.extend(right.good);
            let bad = match (left.bad, right.bad) {
                (Some(mut one), Some(other)) => {
                    one.with(other);
                    Some(one)
                }
                (one, other) => one.or(other),
            };
            (left.good, bad)
        }
    };
    while let Some(mut union) = bad.take() {
        if rules.holds(&union.counts) {
            good.push(union);
            break;
        }
        let smallest =
            (0..good.len()).min_by_key(|&at| (good[at].counts.rows(), good[at].cells[0]));
        match smallest {
            None => return Settled { good, bad: Some(union) },
            Some(at) => {
                union.with(good.swap_remove(at));
                bad = Some(union);
            }
        }
    }
    Settled { good, bad: None }
}
