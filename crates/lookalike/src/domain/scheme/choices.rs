//! A scheme as choices: for two neighbours, two siblings, a group or a level whether they are
//! joined or stay apart.
//!
//! Every valid partition is exactly one way to make all choices, so whoever takes one open choice
//! after the other, both ways, meets every partition once. Choices depend on each other: joining
//! across the border of two groups joins everything inside them (and keeping apart inside a group
//! keeps it from its neighbours), and in the schemes of sets "together" is an equivalence.
//! [`Choices::settle`] draws these conclusions. With some choices still open, the joined ones make
//! the finest partition that can come of it, and the joined and open ones together one that is at
//! least as coarse as all of them.
//!
//! Taken in their order, all choices before one that is joined being kept apart, they are the
//! enumeration tree of Li and Li 2008: a block is filled before the next one is begun. Their figure
//! 6 asks only the blocks between the two that are merged to be single values; then {1,2},{3,4} is
//! met twice, and of four values there are 16 partitions instead of 15. All blocks after the
//! earlier one must be single values, which is what keeping earlier choices apart amounts to.

use super::shape::Inner;
use super::{Scheme, Shape};

/// How a choice is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Joined,
    Apart,
}

/// From which end a search starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From single values, joining.
    BottomUp,
    /// From one block, keeping apart.
    TopDown,
}

impl Direction {
    /// What a step of the search does.
    pub(crate) fn step(self) -> Verdict {
        match self {
            Direction::BottomUp => Verdict::Joined,
            Direction::TopDown => Verdict::Apart,
        }
    }
}

impl Verdict {
    pub(crate) fn other(self) -> Verdict {
        match self {
            Verdict::Joined => Verdict::Apart,
            Verdict::Apart => Verdict::Joined,
        }
    }
}

/// Which choices are made, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    joined: Box<[u64]>,
    apart: Box<[u64]>,
}

impl State {
    pub(crate) fn is(&self, choice: u32, verdict: Verdict) -> bool {
        let bits = if verdict == Verdict::Joined { &self.joined } else { &self.apart };
        bits[choice as usize / 64] >> (choice % 64) & 1 == 1
    }

    pub(crate) fn is_open(&self, choice: u32) -> bool {
        let at = choice as usize / 64;
        (self.joined[at] | self.apart[at]) >> (choice % 64) & 1 == 0
    }

    fn set(&mut self, choice: u32, verdict: Verdict) {
        let bits = if verdict == Verdict::Joined { &mut self.joined } else { &mut self.apart };
        bits[choice as usize / 64] |= 1 << (choice % 64);
    }
}

/// One choice.
#[derive(Debug)]
struct Choice {
    attribute: usize,
    /// Atoms that come together when it is joined.
    links: Vec<(u32, u32)>,
    /// What is joined with it.
    joins: Vec<u32>,
    /// What stays apart with it.
    parts: Vec<u32>,
    /// Which two of which siblings it is about, in the schemes of sets.
    pair: Option<Pair>,
}

#[derive(Clone, Copy, Debug)]
struct Pair {
    /// The choice about the first two of these siblings.
    from: u32,
    siblings: u32,
    one: u32,
    other: u32,
}

impl Pair {
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
    /// In the schemes of sets, for each two atoms of an attribute the choice that decides whether
    /// they may be together; empty otherwise.
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

    fn push(&mut self, links: Vec<(u32, u32)>, joins: Vec<u32>, pair: Option<Pair>) {
        self.choices.push(Choice {
            attribute: self.of.len(),
            links,
            joins,
            parts: Vec::new(),
            pair,
        });
    }

    /// One choice a level: everything below it is joined.
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

    /// One choice an inner node: all of its children are joined.
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

    /// One choice for each two siblings, or each two neighbours among them: joined they are whole.
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
                    let pair = is_of_sets.then_some(Pair { from, siblings, one, other });
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

    /// How many choices there are.
    pub(crate) fn count(&self) -> usize {
        self.choices.len()
    }

    /// Nothing is chosen.
    pub(crate) fn open(&self) -> State {
        let empty = || vec![0; self.choices.len().div_ceil(64)].into_boxed_slice();
        State { joined: empty(), apart: empty() }
    }

    /// The open choices, in the order of the enumeration.
    pub(crate) fn open_in<'a>(&'a self, state: &'a State) -> impl Iterator<Item = u32> + 'a {
        self.order.iter().copied().filter(|&choice| state.is_open(choice))
    }

    /// The attribute that a choice is about.
    pub(crate) fn attribute(&self, choice: u32) -> usize {
        self.choices[choice as usize].attribute
    }

    /// The atoms that a choice would bring together directly.
    pub(crate) fn links(&self, choice: u32) -> &[(u32, u32)] {
        &self.choices[choice as usize].links
    }

    /// True when blocks of the attribute are sets.
    pub(crate) fn is_of_sets(&self, attribute: usize) -> bool {
        !self.between[attribute].is_empty()
    }

    /// True when nothing keeps two atoms of an attribute of sets apart.
    pub(crate) fn may_join(
        &self,
        state: &State,
        attribute: usize,
        one: usize,
        other: usize,
    ) -> bool {
        one == other
            || !state
                .is(self.between[attribute][one * self.atoms[attribute] + other], Verdict::Apart)
    }

    /// The choices about an attribute.
    pub(crate) fn about(&self, attribute: usize) -> std::ops::Range<u32> {
        self.of[attribute].clone()
    }

    /// Makes a choice and all that follow from it; false when that contradicts the others. Then the
    /// state is of no use any more.
    pub(crate) fn settle(&self, state: &mut State, choice: u32, verdict: Verdict) -> bool {
        let mut todo = vec![(choice, verdict)];
        while let Some((choice, verdict)) = todo.pop() {
            if !state.is_open(choice) {
                if state.is(choice, verdict) {
                    continue;
                }
                return false;
            }
            state.set(choice, verdict);
            let Choice { joins, parts, pair, .. } = &self.choices[choice as usize];
            let follow = if verdict == Verdict::Joined { joins } else { parts };
            todo.extend(follow.iter().map(|&other| (other, verdict)));
            let Some(pair) = pair else { continue };
            for third in
                (0..pair.siblings).filter(|&third| third != pair.one && third != pair.other)
            {
                let (left, right) = (pair.choice(pair.one, third), pair.choice(pair.other, third));
                for (known, unknown) in [(left, right), (right, left)] {
                    match (
                        verdict,
                        state.is(known, Verdict::Joined),
                        state.is(known, Verdict::Apart),
                    ) {
                        (Verdict::Joined, true, _) => todo.push((unknown, Verdict::Joined)),
                        (Verdict::Joined, _, true) | (Verdict::Apart, true, _) => {
                            todo.push((unknown, Verdict::Apart))
                        }
                        _ => {}
                    }
                }
            }
        }
        true
    }

    /// The block of each atom of an attribute, named by its least atom: of what is joined, and with
    /// `open` of what may yet be.
    pub(crate) fn blocks(&self, state: &State, attribute: usize, open: bool) -> Vec<u32> {
        let mut least: Vec<u32> = (0..).take(self.atoms[attribute]).collect();
        fn find(least: &mut [u32], mut atom: u32) -> u32 {
            while least[atom as usize] != atom {
                least[atom as usize] = least[least[atom as usize] as usize];
                atom = least[atom as usize];
            }
            atom
        }
        for choice in self.about(attribute) {
            if state.is(choice, Verdict::Joined) || (open && state.is_open(choice)) {
                for &(one, other) in self.links(choice) {
                    let (one, other) = (find(&mut least, one), find(&mut least, other));
                    least[one.max(other) as usize] = one.min(other);
                }
            }
        }
        (0..).take(least.len()).map(|atom| find(&mut least, atom)).collect()
    }

    /// The blocks of every attribute.
    pub(crate) fn all_blocks(&self, state: &State, open: bool) -> Vec<Vec<u32>> {
        (0..self.atoms.len()).map(|attribute| self.blocks(state, attribute, open)).collect()
    }

    /// The next steps from a state: each open choice in turn taken, those before it refused. And
    /// what is left when all are refused: the one partition that the state itself stands for.
    pub(crate) fn steps(
        &self,
        state: &State,
        direction: Direction,
        order: &[u32],
    ) -> (Vec<State>, State) {
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
            debug_assert!(
                is_left,
                "a choice that is open can be refused: what follows from the others was drawn"
            );
        }
        (steps, rest)
    }
}
