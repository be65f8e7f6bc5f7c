//! A scheme as a list of choices. A choice is about two neighbours, two siblings, a group or a
//! level: they are joined, or they are kept apart.
//!
//! Every valid partition corresponds to exactly one way to decide all choices, so a search that
//! decides one open choice after the other, both ways, visits every partition once. Choices depend
//! on each other: joining across the border of two groups joins everything inside them (and keeping
//! apart inside a group keeps the group apart from its neighbours), and in the schemes of sets
//! "joined" is an equivalence relation. [`Choices::settle`] draws these conclusions. As long as
//! some choices are open, the joined choices give the finest partition that can result, and the
//! joined and open choices together give one that is at least as coarse as every result.
//!
//! In their order, with all choices before a joined one kept apart, they form the enumeration tree
//! of Li and Li 2008: a block is completed before the next one begins. Their figure 6 requires only
//! the blocks between the two merged ones to be single values; then {1,2},{3,4} is visited twice,
//! and four values have 16 partitions instead of 15. All blocks after the earlier one must be
//! single values; keeping the earlier choices apart has this effect.

use super::shape::Inner;
use super::{Scheme, Shape};

/// The decision on one choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Joined,
    Apart,
}

/// The direction of an enumeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From single values, joining.
    BottomUp,
    /// From one block, keeping apart.
    TopDown,
}

impl Direction {
    /// The decision that one step of the enumeration makes.
    pub(crate) fn step(self) -> Decision {
        match self {
            Direction::BottomUp => Decision::Joined,
            Direction::TopDown => Decision::Apart,
        }
    }
}

impl Decision {
    pub(crate) fn other(self) -> Decision {
        match self {
            Decision::Joined => Decision::Apart,
            Decision::Apart => Decision::Joined,
        }
    }
}

/// The choices that count as joined when a state is read as a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockExtent {
    /// The joined ones: the finest partition that can result from the state.
    Joined,
    /// The joined and the open ones: at least as coarse as every partition that can result.
    JoinedAndOpen,
}

/// The decisions so far: two sets of choices without a common member, one bit for each choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChoiceState {
    joined: Box<[u64]>,
    apart: Box<[u64]>,
}

impl ChoiceState {
    pub(crate) fn is(&self, choice: u32, decision: Decision) -> bool {
        let bits = if decision == Decision::Joined { &self.joined } else { &self.apart };
        bits[choice as usize / 64] >> (choice % 64) & 1 == 1
    }

    pub(crate) fn is_open(&self, choice: u32) -> bool {
        let at = choice as usize / 64;
        (self.joined[at] | self.apart[at]) >> (choice % 64) & 1 == 0
    }

    fn set(&mut self, choice: u32, decision: Decision) {
        let bits = if decision == Decision::Joined { &mut self.joined } else { &mut self.apart };
        bits[choice as usize / 64] |= 1 << (choice % 64);
    }
}

/// One choice, and the choices that depend on it.
#[derive(Debug)]
struct Choice {
    attribute: usize,
    /// Pairs of atoms that it joins directly.
    links: Vec<(u32, u32)>,
    /// Choices that are joined whenever it is.
    joins: Vec<u32>,
    /// Choices that are kept apart whenever it is.
    parts: Vec<u32>,
    /// The two siblings that it is about, in the schemes of sets.
    pair: Option<SiblingPair>,
}

/// Two children of one node.
#[derive(Clone, Copy, Debug)]
struct SiblingPair {
    /// The choice about the first two of all siblings.
    from: u32,
    siblings: u32,
    one: u32,
    other: u32,
}

impl SiblingPair {
    /// The choice about two of the siblings.
    fn choice(self, one: u32, other: u32) -> u32 {
        let (one, other) = (one.min(other), one.max(other));
        self.from + one * self.siblings - one * (one + 1) / 2 + other - one - 1
    }
}

/// The choices of all attributes of a table.
#[derive(Debug)]
pub(crate) struct Choices {
    choices: Vec<Choice>,
    /// The choices of each attribute.
    of: Vec<std::ops::Range<u32>>,
    /// All of them in the order of the enumeration.
    order: Vec<u32>,
    atoms: Vec<usize>,
    /// In the schemes of sets, for every two atoms of an attribute the choice that decides whether
    /// one block may contain both; empty otherwise.
    between: Vec<Vec<u32>>,
}

impl Choices {
    pub(crate) fn new(attributes: &[(Scheme, &Shape)]) -> Choices {
        let mut all = Choices {
            choices: Vec::new(),
            of: Vec::new(),
            order: Vec::new(),
            atoms: Vec::new(),
            between: Vec::new(),
        };
        for &(scheme, shape) in attributes {
            let from = all.next();
            all.between.push(Vec::new());
            match scheme {
                Scheme::Bhs => all.levels(shape),
                Scheme::Ghs => all.nodes(shape),
                Scheme::Gops | Scheme::Gsps => all.guided(scheme, shape),
                Scheme::Ops | Scheme::Sps => {
                    let mut flat = Shape { inner: Vec::new(), ..shape.clone() };
                    flat.flat();
                    all.guided(scheme, &flat);
                }
            }
            all.atoms.push(shape.atoms.len());
            all.of.push(from..all.next());
        }
        for choice in 0..all.next() {
            for joined in all.choices[choice as usize].joins.clone() {
                all.choices[joined as usize].parts.push(choice);
            }
        }
        let place = |&choice: &u32| {
            let Choice { attribute, links, .. } = &all.choices[choice as usize];
            (*attribute, links.iter().min().copied(), choice)
        };
        all.order = (0..all.next()).collect();
        all.order.sort_by_key(place);
        all
    }

    fn next(&self) -> u32 {
        u32::try_from(self.choices.len()).expect("fewer than 2^32 choices")
    }

    fn push(&mut self, links: Vec<(u32, u32)>, joins: Vec<u32>, pair: Option<SiblingPair>) {
        self.choices.push(Choice {
            attribute: self.of.len(),
            links,
            joins,
            parts: Vec::new(),
            pair,
        });
    }

    /// Basic hierarchical: one choice for each level; joined, everything below it is joined.
    fn levels(&mut self, shape: &Shape) {
        for (at, level) in shape.levels().into_iter().enumerate() {
            let here = shape.inner.iter().filter(|inner| inner.level == level);
            let links = here
                .flat_map(|inner| {
                    inner.children.windows(2).map(|pair| (pair[0].first, pair[1].first))
                })
                .collect();
            let below = if at > 0 { vec![self.next() - 1] } else { Vec::new() };
            self.push(links, below, None);
        }
    }

    /// Group hierarchical: one choice for each inner node; joined, all of its children are.
    fn nodes(&mut self, shape: &Shape) {
        let from = self.next();
        for inner in &shape.inner {
            let links =
                inner.children.windows(2).map(|pair| (pair[0].first, pair[1].first)).collect();
            let below = inner
                .children
                .iter()
                .filter_map(|child| child.inner)
                .map(|inner| from + inner)
                .collect();
            self.push(links, below, None);
        }
    }

    /// Guided: one choice for every two siblings, or every two neighbours among them; joined, both
    /// are one block.
    fn guided(&mut self, scheme: Scheme, shape: &Shape) {
        let is_of_sets = matches!(scheme, Scheme::Sps | Scheme::Gsps);
        let atoms = shape.atoms.len();
        let mut between = vec![0; if is_of_sets { atoms * atoms } else { 0 }];
        let mut within: Vec<std::ops::Range<u32>> = Vec::new();
        for (node, Inner { children, .. }) in shape.inner.iter().enumerate() {
            let ranges: Vec<(usize, usize)> = shape.child_ranges(node).collect();
            let from = self.next();
            let siblings = u32::try_from(children.len()).expect("fewer siblings than codes");
            for (one, first) in (0..).zip(children) {
                let last = if is_of_sets { siblings } else { siblings.min(one + 2) };
                for (other, second) in (one + 1..last).zip(&children[one as usize + 1..]) {
                    let inside = [first, second].into_iter().filter_map(|child| child.inner);
                    let joins = inside.flat_map(|inner| within[inner as usize].clone()).collect();
                    let pair = is_of_sets.then_some(SiblingPair { from, siblings, one, other });
                    if is_of_sets {
                        let (left, right) = (ranges[one as usize], ranges[other as usize]);
                        for (a, b) in
                            (left.0..left.1).flat_map(|a| (right.0..right.1).map(move |b| (a, b)))
                        {
                            between[a * atoms + b] = self.next();
                            between[b * atoms + a] = self.next();
                        }
                    }
                    self.push(vec![(first.first, second.first)], joins, pair);
                }
            }
            within.push(from..self.next());
        }
        *self.between.last_mut().expect("this attribute's") = between;
    }

    /// Number of choices over all attributes.
    pub(crate) fn count(&self) -> usize {
        self.choices.len()
    }

    /// The state with every choice open.
    pub(crate) fn open(&self) -> ChoiceState {
        let empty = || vec![0; self.choices.len().div_ceil(64)].into_boxed_slice();
        ChoiceState { joined: empty(), apart: empty() }
    }

    /// The open choices, in the order of the enumeration.
    pub(crate) fn open_in<'a>(&'a self, state: &'a ChoiceState) -> impl Iterator<Item = u32> + 'a {
        self.order.iter().copied().filter(|&choice| state.is_open(choice))
    }

    /// The attribute that a choice is about.
    pub(crate) fn attribute(&self, choice: u32) -> usize {
        self.choices[choice as usize].attribute
    }

    /// The pairs of atoms that a choice would join directly.
    pub(crate) fn links(&self, choice: u32) -> &[(u32, u32)] {
        &self.choices[choice as usize].links
    }

    /// True when blocks of the attribute are sets.
    pub(crate) fn is_of_sets(&self, attribute: usize) -> bool {
        !self.between[attribute].is_empty()
    }

    /// True when no decision keeps two atoms apart; for attributes whose blocks are sets.
    pub(crate) fn may_join(
        &self,
        state: &ChoiceState,
        attribute: usize,
        one: usize,
        other: usize,
    ) -> bool {
        one == other
            || !state
                .is(self.between[attribute][one * self.atoms[attribute] + other], Decision::Apart)
    }

    /// The choices about an attribute.
    pub(crate) fn about(&self, attribute: usize) -> std::ops::Range<u32> {
        self.of[attribute].clone()
    }

    /// Decides a choice and all that follow from it; false when that contradicts earlier decisions.
    /// Then the state must not be used any more.
    pub(crate) fn settle(&self, state: &mut ChoiceState, choice: u32, decision: Decision) -> bool {
        let mut todo = vec![(choice, decision)];
        while let Some((choice, decision)) = todo.pop() {
            if !state.is_open(choice) {
                if state.is(choice, decision) {
                    continue;
                }
                return false;
            }
            state.set(choice, decision);
            let Choice { joins, parts, pair, .. } = &self.choices[choice as usize];
            let follow = if decision == Decision::Joined { joins } else { parts };
            todo.extend(follow.iter().map(|&other| (other, decision)));
            let Some(pair) = pair else { continue };
            for third in
                (0..pair.siblings).filter(|&third| third != pair.one && third != pair.other)
            {
                let (left, right) = (pair.choice(pair.one, third), pair.choice(pair.other, third));
                for (known, unknown) in [(left, right), (right, left)] {
                    match (
                        decision,
                        state.is(known, Decision::Joined),
                        state.is(known, Decision::Apart),
                    ) {
                        (Decision::Joined, true, _) => todo.push((unknown, Decision::Joined)),
                        (Decision::Joined, _, true) | (Decision::Apart, true, _) => {
                            todo.push((unknown, Decision::Apart))
                        }
                        _ => {}
                    }
                }
            }
        }
        true
    }

    /// The block of each atom of an attribute, named by its least atom.
    pub(crate) fn blocks(
        &self,
        state: &ChoiceState,
        attribute: usize,
        extent: BlockExtent,
    ) -> Vec<u32> {
        let mut least: Vec<u32> = (0..).take(self.atoms[attribute]).collect();
        fn find(least: &mut [u32], mut atom: u32) -> u32 {
            while least[atom as usize] != atom {
                least[atom as usize] = least[least[atom as usize] as usize];
                atom = least[atom as usize];
            }
            atom
        }
        for choice in self.about(attribute) {
            let is_open_too = extent == BlockExtent::JoinedAndOpen && state.is_open(choice);
            if is_open_too || state.is(choice, Decision::Joined) {
                for &(one, other) in self.links(choice) {
                    let (one, other) = (find(&mut least, one), find(&mut least, other));
                    least[one.max(other) as usize] = one.min(other);
                }
            }
        }
        (0..).take(least.len()).map(|atom| find(&mut least, atom)).collect()
    }

    /// The blocks of every attribute.
    pub(crate) fn all_blocks(&self, state: &ChoiceState, extent: BlockExtent) -> Vec<Vec<u32>> {
        (0..self.atoms.len()).map(|attribute| self.blocks(state, attribute, extent)).collect()
    }

    /// The next steps from a state: each open choice in turn taken, those before it refused. The
    /// second result is the state with all of them refused: one partition.
    pub(crate) fn steps(
        &self,
        state: &ChoiceState,
        direction: Direction,
        order: &[u32],
    ) -> (Vec<ChoiceState>, ChoiceState) {
        let (mut steps, mut rest) = (Vec::new(), state.clone());
        for &choice in order {
            if !rest.is_open(choice) {
                continue;
            }
            let mut step = rest.clone();
            if self.settle(&mut step, choice, direction.step()) {
                steps.push(step);
            }
            let is_left = self.settle(&mut rest, choice, direction.step().other());
            debug_assert!(is_left, "an open choice can be refused: all conclusions were drawn");
        }
        (steps, rest)
    }
}
