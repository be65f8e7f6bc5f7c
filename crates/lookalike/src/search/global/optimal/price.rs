//! The dual in the search: it bounds a node, settles choices, and bounds the halves of those that
//! are most likely to divide the node well.

use std::sync::Arc;

use super::bound::NodeBounds;
use super::dual::{Dual, Effort};
use super::node::{Probe, SearchNode};
use super::seed::Incumbent;
use super::{BranchAndBound, Branching, Probed, is_no_better, score};
use crate::domain::scheme::{Decision, Scheme};
use crate::search::global::ClassBuffers;

/// For the first node, whose prices the others begin with.
const FIRST: Effort =
    Effort { rounds: 40, steps: 100, least_gain: 0.002, length: 1.0, patience: 8 };

/// For all other nodes.
const OTHERS: Effort = Effort { rounds: 2, steps: 30, least_gain: 0.02, length: 0.3, patience: 4 };

/// So many choices are tried both ways,
const TRIALS: usize = 8;

/// with so many steps each.
const TRIAL_STEPS: usize = 8;

impl BranchAndBound<'_> {
    /// Bounds a node by its dual, and its halves by trials.
    pub(super) fn price(
        &self,
        bounds: &NodeBounds,
        node: &mut SearchNode,
        open: &[u32],
        probes: &[Probe],
        best: &mut Incumbent,
        buffers: &mut ClassBuffers,
    ) -> Probed {
        let space = self.space;
        let mut dual = Dual::new(space, &node.state, bounds, &best.parts, node.prices.as_deref());
        let effort = if node.prices.is_none() { FIRST } else { OTHERS };
        dual.ascend(best.cost, effort, self.budget);
        node.bound = node.bound.max(dual.bound);
        if is_no_better(node.bound, best.cost) {
            return Probed::Nothing;
        }
        // Levels are chosen for all values at once; the dual chooses group by group.
        if !space.schemes.contains(&Scheme::Bhs) {
            let parts = dual.parts(bounds);
            let cost = space.value(&bounds.table, &parts, buffers).cost;
            if cost < best.cost {
                *best = Incumbent { cost, parts };
            }
        }
        let best = best.cost;
        if is_no_better(node.bound, best) {
            return Probed::Nothing;
        }
        node.prices = Some(Arc::new(dual.prices()));
        let (mut settled, mut priced) = (Vec::new(), Vec::with_capacity(open.len()));
        for &choice in open {
            let known = probes.iter().find(|probe| probe.choice == choice);
            let known = known.map_or((node.bound, node.bound), |probe| (probe.joined, probe.apart));
            let way = |decision, known: f64| {
                known.max(dual.probe(space, choice, decision)).max(node.bound)
            };
            let joined = way(Decision::Joined, known.0);
            let apart = way(Decision::Apart, known.1);
            match self.settled_by(joined, apart, best) {
                Some(None) => return Probed::Nothing,
                Some(Some(decision)) => settled.push((choice, decision)),
                None => priced.push(Probe { choice, joined, apart }),
            }
        }
        if !settled.is_empty() {
            return Probed::Settled(settled);
        }
        if self.techniques.branching != Branching::Halves || dual.is_slow() {
            return Probed::Open(priced);
        }
        let score_of = |&Probe { choice, joined, apart }: &Probe| {
            let apart = apart.max(node.bound + bounds.guess(space, choice));
            let weight = dual.joined_weight(space, choice).clamp(0.0, 1.0);
            (weight.min(1.0 - weight) + 0.02) * score(node.bound, joined, apart)
        };
        let mut order: Vec<(f64, Probe)> =
            priced.into_iter().map(|probe| (score_of(&probe), probe)).collect();
        order.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut tried = Vec::with_capacity(TRIALS);
        for (_, mut probe) in order.into_iter().take(TRIALS) {
            let mut trial = |decision| dual.trial(space, probe.choice, decision, best, TRIAL_STEPS);
            let (joined, apart) = (trial(Decision::Joined), trial(Decision::Apart));
            (probe.joined, probe.apart) = (probe.joined.max(joined), probe.apart.max(apart));
            match self.settled_by(probe.joined, probe.apart, best) {
                Some(None) => return Probed::Nothing,
                Some(Some(decision)) => settled.push((probe.choice, decision)),
                None => tried.push(probe),
            }
        }
        if settled.is_empty() { Probed::Open(tried) } else { Probed::Settled(settled) }
    }

    /// The decision that the bounds of both halves leave, none inside if neither; none if both.
    fn settled_by(&self, joined: f64, apart: f64, best: f64) -> Option<Option<Decision>> {
        let is_useless = self.techniques.useless && is_no_better(joined, best);
        let is_useful = self.techniques.useful && is_no_better(apart, best);
        match (is_useless, is_useful) {
            (true, true) => Some(None),
            (true, false) => Some(Some(Decision::Apart)),
            (false, true) => Some(Some(Decision::Joined)),
            (false, false) => None,
        }
    }
}
