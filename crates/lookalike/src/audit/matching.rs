//! The most rows that can be matched: a greatest flow from boxes to tuples.
//!
//! A box is a released combination of cells with its number of rows, a tuple an original
//! combination of values with its number of rows; an edge says that the box covers the tuple. A
//! flow that uses up every box gives each released row a source row of its own.
//!
//! # Complexity
//! Dinic's phases over the edges: O(E √V) for unit counts, a few phases in practice, since a greedy
//! pass does most of the work.
//!
//! # Reference
//! E. A. Dinic, Algorithm for solution of a problem of maximum flow in networks with power
//! estimation, 1970; J. Hopcroft, R. Karp, An n^(5/2) algorithm for maximum matchings in bipartite
//! graphs, SIAM J. Comput. 1973.

/// Edges of one side, end to end: those of node `n` are `list[starts[n]..starts[n + 1]]`.
struct Adjacent {
    starts: Vec<usize>,
    list: Vec<usize>,
}

fn adjacent(nodes: usize, ends: impl Iterator<Item = u32> + Clone) -> Adjacent {
    let mut starts = vec![0; nodes + 1];
    ends.clone().for_each(|end| starts[end as usize + 1] += 1);
    for node in 0..nodes {
        starts[node + 1] += starts[node];
    }
    let mut next = starts.clone();
    let mut list = vec![0; starts[nodes]];
    for (edge, end) in ends.enumerate() {
        list[next[end as usize]] = edge;
        next[end as usize] += 1;
    }
    Adjacent { starts, list }
}

impl Adjacent {
    fn of(&self, node: usize) -> &[usize] {
        &self.list[self.starts[node]..self.starts[node + 1]]
    }
}

struct Network<'a> {
    edges: &'a [(u32, u32)],
    /// The capacity of each edge, in rows.
    most: &'a [u64],
    from_box: Adjacent,
    from_tuple: Adjacent,
    flow: Vec<u64>,
    /// Rows that each box still has to place, and rows that each tuple can still take.
    supply: Vec<u64>,
    room: Vec<u64>,
    box_level: Vec<u32>,
    tuple_level: Vec<u32>,
}

const UNSEEN: u32 = u32::MAX;

/// The greatest number of rows of the boxes that can be placed on tuples along the edges (box,
/// tuple).
pub(super) fn greatest(supply: Vec<u64>, room: Vec<u64>, edges: &[(u32, u32)]) -> u64 {
    let free: Vec<u64> = edges.iter().map(|&(b, _)| supply[b as usize]).collect();
    greatest_within(supply, room, edges, &free)
}

/// The same, with a capacity for each edge.
pub(super) fn greatest_within(
    supply: Vec<u64>,
    room: Vec<u64>,
    edges: &[(u32, u32)],
    most: &[u64],
) -> u64 {
    let from_box = adjacent(supply.len(), edges.iter().map(|edge| edge.0));
    let from_tuple = adjacent(room.len(), edges.iter().map(|edge| edge.1));
    let (box_level, tuple_level) = (vec![UNSEEN; supply.len()], vec![UNSEEN; room.len()]);
    let mut network = Network {
        edges,
        most,
        from_box,
        from_tuple,
        flow: vec![0; edges.len()],
        supply,
        room,
        box_level,
        tuple_level,
    };
    let mut placed = network.greedy();
    while network.levels() {
        placed += network.augment_all();
    }
    placed
}

impl Network<'_> {
    /// Boxes with the fewest tuples first, each on the tuples that the fewest boxes cover.
    fn greedy(&mut self) -> u64 {
        let mut order: Vec<usize> = (0..self.supply.len()).collect();
        order.sort_by_key(|&b| self.from_box.of(b).len());
        let mut placed = 0;
        for b in order {
            let mut tuples = self.from_box.of(b).to_vec();
            tuples.sort_by_key(|&edge| self.from_tuple.of(self.edges[edge].1 as usize).len());
            for edge in tuples {
                let tuple = self.edges[edge].1 as usize;
                let rows = self.supply[b].min(self.room[tuple]).min(self.most[edge]);
                self.supply[b] -= rows;
                self.room[tuple] -= rows;
                self.flow[edge] += rows;
                placed += rows;
            }
        }
        placed
    }

    /// Numbers the nodes by their distance from a box with rows left; false when no tuple with room
    /// can be reached.
    fn levels(&mut self) -> bool {
        self.box_level.fill(UNSEEN);
        self.tuple_level.fill(UNSEEN);
        let mut boxes: Vec<usize> =
            (0..self.supply.len()).filter(|&b| self.supply[b] > 0).collect();
        boxes.iter().for_each(|&b| self.box_level[b] = 0);
        let mut level = 0;
        let mut found = false;
        while !boxes.is_empty() && !found {
            level += 1;
            let mut tuples = Vec::new();
            for &b in &boxes {
                for &edge in self.from_box.of(b) {
                    let tuple = self.edges[edge].1 as usize;
                    if self.tuple_level[tuple] == UNSEEN && self.flow[edge] < self.most[edge] {
                        self.tuple_level[tuple] = level;
                        found |= self.room[tuple] > 0;
                        tuples.push(tuple);
                    }
                }
            }
            level += 1;
            boxes.clear();
            for tuple in tuples {
                for &edge in self.from_tuple.of(tuple) {
                    let b = self.edges[edge].0 as usize;
                    if self.flow[edge] > 0 && self.box_level[b] == UNSEEN {
                        self.box_level[b] = level;
                        boxes.push(b);
                    }
                }
            }
        }
        found
    }

    /// Places rows along paths of increasing level until there is no such path.
    fn augment_all(&mut self) -> u64 {
        let mut box_next = vec![0; self.supply.len()];
        let mut tuple_next = vec![0; self.room.len()];
        let mut placed = 0;
        for start in 0..self.supply.len() {
            while self.supply[start] > 0 && self.box_level[start] == 0 {
                let Some(path) = self.path(start, &mut box_next, &mut tuple_next) else { break };
                let last = self.edges[path[path.len() - 1]].1 as usize;
                let along = |(step, &edge): (usize, &usize)| match step % 2 {
                    0 => self.most[edge] - self.flow[edge],
                    _ => self.flow[edge],
                };
                let narrowest = path.iter().enumerate().map(along).min().unwrap_or(0);
                let rows = self.supply[start].min(self.room[last]).min(narrowest);
                for (step, &edge) in path.iter().enumerate() {
                    if step % 2 == 0 {
                        self.flow[edge] += rows;
                    } else {
                        self.flow[edge] -= rows;
                    }
                }
                self.supply[start] -= rows;
                self.room[last] -= rows;
                placed += rows;
            }
        }
        placed
    }

    /// Edges from the box to a tuple with room: forth to a tuple, back to a box that uses it, and
    /// so on. The pointers skip edges that lead nowhere in this phase.
    fn path(
        &self,
        start: usize,
        box_next: &mut [usize],
        tuple_next: &mut [usize],
    ) -> Option<Vec<usize>> {
        let mut path: Vec<usize> = Vec::new();
        let mut b = start;
        loop {
            let forth = self.from_box.of(b)[box_next[b]..].iter().position(|&edge| {
                self.tuple_level[self.edges[edge].1 as usize] == self.box_level[b] + 1
                    && self.flow[edge] < self.most[edge]
            });
            let Some(skipped) = forth else {
                // A dead end: step back over the tuple that led here, and let it try its next box.
                box_next[b] = self.from_box.of(b).len();
                let back = path.pop()?;
                tuple_next[self.edges[back].1 as usize] += 1;
                let into = path.pop()?;
                b = self.edges[into].0 as usize;
                continue;
            };
            box_next[b] += skipped;
            let edge = self.from_box.of(b)[box_next[b]];
            let tuple = self.edges[edge].1 as usize;
            path.push(edge);
            if self.room[tuple] > 0 {
                return Some(path);
            }
            let level = self.tuple_level[tuple];
            let back = self.from_tuple.of(tuple)[tuple_next[tuple]..].iter().position(|&edge| {
                self.flow[edge] > 0 && self.box_level[self.edges[edge].0 as usize] == level + 1
            });
            match back {
                Some(skipped) => {
                    tuple_next[tuple] += skipped;
                    let edge = self.from_tuple.of(tuple)[tuple_next[tuple]];
                    path.push(edge);
                    b = self.edges[edge].0 as usize;
                }
                None => {
                    tuple_next[tuple] = self.from_tuple.of(tuple).len();
                    path.pop();
                    box_next[b] += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::Seeded;

    /// Tries every assignment of the rows.
    fn brute(rows: &[usize], room: &mut [u64], covers: &[Vec<bool>]) -> u64 {
        let Some((&b, rest)) = rows.split_first() else { return 0 };
        let mut best = brute(rest, room, covers);
        for tuple in 0..room.len() {
            if covers[b][tuple] && room[tuple] > 0 {
                room[tuple] -= 1;
                best = best.max(1 + brute(rest, room, covers));
                room[tuple] += 1;
            }
        }
        best
    }

    #[test]
    fn the_flow_equals_the_best_of_all_assignments() {
        let mut seeded = Seeded(11);
        let mut short = 0;
        for _ in 0..3000 {
            let (boxes, tuples) = (1 + seeded.below(5), 1 + seeded.below(5));
            let dense = 1 + seeded.below(4);
            let covers: Vec<Vec<bool>> = (0..boxes)
                .map(|_| (0..tuples).map(|_| seeded.below(5) < dense).collect())
                .collect();
            let mut rows: Vec<usize> =
                (0..1 + seeded.below(6)).map(|_| seeded.below(boxes)).collect();
            rows.sort_unstable();
            let mut room: Vec<u64> = (0..tuples).map(|_| seeded.below(3) as u64).collect();
            let supply =
                (0..boxes).map(|b| rows.iter().filter(|&&r| r == b).count() as u64).collect();
            let edges: Vec<(u32, u32)> = (0u32..)
                .zip(&covers)
                .flat_map(|(b, row)| {
                    (0u32..).zip(row).filter(|(_, covers)| **covers).map(move |(t, _)| (b, t))
                })
                .collect();
            let best = brute(&rows, &mut room, &covers);
            assert_eq!(greatest(supply, room, &edges), best);
            short += usize::from(best < rows.len() as u64);
        }
        assert!(
            short > 300,
            "the trials must include many that cannot be matched fully, not {short}"
        );
    }

    #[test]
    fn a_long_chain_of_changes_is_found() {
        // Box i covers tuples i and i+1; the last box covers only tuple 0, so every other box must
        // move on.
        let n = 2000u32;
        let mut edges: Vec<(u32, u32)> = (0..n).flat_map(|i| [(i, i), (i, i + 1)]).collect();
        edges.push((n, 0));
        let rows = vec![1; n as usize + 1];
        assert_eq!(greatest(rows.clone(), rows, &edges), u64::from(n) + 1);
    }
}
