//! A partition of the rows into classes, as pieces of tuples.

/// Some of the rows of one distinct tuple. Which of its rows they are does not matter to any rule:
/// they are interchangeable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    /// The distinct tuple.
    pub tuple: u32,
    /// The number of its rows, at least 1.
    pub count: u32,
}

/// Classes, each a sequence of pieces.
///
/// Invariant: no class is empty. An algorithm returns each row it was given in exactly one class:
/// over all classes, the counts of the pieces of a tuple add up to the rows of the tuple.
#[derive(Clone, Debug)]
pub struct Partition {
    pieces: Vec<Piece>,
    starts: Vec<u32>,
}

impl Default for Partition {
    fn default() -> Partition {
        Partition { pieces: Vec::new(), starts: vec![0] }
    }
}

impl Partition {
    /// Pieces in class order, and the number of pieces of each class. Panics when a size is 0 or
    /// the sizes do not add up to the pieces.
    pub fn from_sizes(pieces: Vec<Piece>, sizes: &[u32]) -> Partition {
        let mut starts = Vec::with_capacity(sizes.len() + 1);
        let mut end = 0;
        starts.push(0);
        for &size in sizes {
            assert!(size > 0, "no class is empty");
            end += size;
            starts.push(end);
        }
        assert_eq!(end as usize, pieces.len(), "class sizes add up to the pieces");
        Partition { pieces, starts }
    }

    /// Adds a class. Panics when it is empty.
    pub fn push(&mut self, class: impl IntoIterator<Item = Piece>) {
        let before = self.pieces.len();
        self.pieces.extend(class);
        assert!(self.pieces.len() > before, "no class is empty");
        self.starts
            .push(u32::try_from(self.pieces.len()).expect("there are fewer pieces than rows"));
    }

    /// Adds the classes of another partition after these.
    pub fn append(&mut self, mut other: Partition) {
        let before = *self.starts.last().expect("there is always a first start");
        self.pieces.append(&mut other.pieces);
        self.starts.extend(other.starts[1..].iter().map(|start| start + before));
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// True when there is no class.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pieces of a class.
    pub fn class(&self, index: usize) -> &[Piece] {
        &self.pieces[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// The classes in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Piece]> {
        (0..self.len()).map(|index| self.class(index))
    }
}

/// The total number of rows of the pieces.
pub fn rows(pieces: &[Piece]) -> u64 {
    pieces.iter().map(|piece| u64::from(piece.count)).sum()
}

/// The same pieces sorted, each tuple once.
pub(crate) fn joined(pieces: &mut [Piece]) -> impl Iterator<Item = Piece> {
    pieces.sort_unstable();
    pieces.chunk_by(|one, other| one.tuple == other.tuple).map(|same| Piece {
        tuple: same[0].tuple,
        count: same.iter().map(|piece| piece.count).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_keep_their_order_and_their_pieces() {
        let piece = |tuple, count| Piece { tuple, count };
        let mut partition =
            Partition::from_sizes(vec![piece(0, 2), piece(3, 1), piece(1, 5)], &[2, 1]);
        partition.push([piece(4, 1)]);
        let mut all = Partition::default();
        assert!(all.is_empty());
        all.append(partition.clone());
        all.append(partition);
        assert_eq!(
            (all.len(), all.class(1), all.class(3)),
            (6, &[piece(1, 5)][..], &[piece(0, 2), piece(3, 1)][..])
        );
        assert_eq!(all.iter().map(rows).collect::<Vec<_>>(), [3, 5, 1, 3, 5, 1]);
        let twice: Vec<Piece> = joined(&mut [piece(3, 1), piece(0, 2), piece(3, 4)]).collect();
        assert_eq!(twice, [piece(0, 2), piece(3, 5)]);
    }

    #[test]
    #[should_panic(expected = "no class is empty")]
    fn an_empty_class_is_a_bug() {
        Partition::default().push([]);
    }
}
