//! An order of a column's original values in which the values of most released cells lie side by
//! side, so that a cell is a range of positions.

use super::cover::{Cover, Covered, UNRANKED};

/// The order of one column's values.
#[derive(Debug)]
pub(super) struct ColumnOrder {
    /// For each value its position.
    pub(super) position: Vec<u32>,
    /// For each position its value.
    pub(super) value: Vec<u32>,
    /// For each cell the positions that it covers.
    pub(super) spans: Vec<Span>,
}

/// Positions from `lo` to below `hi`: none when they are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) lo: u32,
    pub(super) hi: u32,
    /// True when all of these are covered.
    pub(super) is_exact: bool,
    /// The parts of the column with covered values, see [`part`].
    pub(super) parts: u64,
}

/// The bit of a position: a column has 64 parts of equal length.
pub(super) fn part(position: u32, values: usize) -> u64 {
    1 << (u64::from(position) * 64 / values.max(1) as u64)
}

/// By rank where values have one; the others by the cells that list them, the longest list first:
/// then the groups of a hierarchy lie side by side.
pub(super) fn column_order(cover: &Cover) -> ColumnOrder {
    let values = cover.rank.len();
    let listing = listing_cells(cover);
    let mut value: Vec<u32> = (0..).zip(&cover.rank).map(|(value, _)| value).collect();
    value.sort_by(|&a, &b| {
        let rank = |value: u32| cover.rank[value as usize];
        let listing = |value: u32| &listing[value as usize];
        rank(a).cmp(&rank(b)).then_with(|| listing(a).cmp(listing(b)))
    });
    let mut position = vec![0; values];
    for (at, &value) in (0..).zip(&value) {
        position[value as usize] = at;
    }
    let ranks: Vec<u32> = value.iter().map(|&value| cover.rank[value as usize]).collect();
    let spans = cover.cells.iter().map(|cell| span(cell, &ranks, &position)).collect();
    ColumnOrder { position, value, spans }
}

/// For each value without a rank the cells that list it, as their places by falling length.
fn listing_cells(cover: &Cover) -> Vec<Vec<u32>> {
    let mut cells: Vec<usize> = (0..cover.cells.len()).collect();
    cells.sort_by_key(|&cell| std::cmp::Reverse(cover.cells[cell].list.len()));
    let mut listing = vec![Vec::new(); cover.rank.len()];
    for (place, cell) in (0..).zip(cells) {
        for &value in &cover.cells[cell].list {
            if cover.rank[value as usize] == UNRANKED {
                listing[value as usize].push(place);
            }
        }
    }
    listing
}

fn span(cell: &Covered, ranks: &[u32], position: &[u32]) -> Span {
    let end = u32::try_from(ranks.len()).expect("values are numbered with 32 bits");
    if cell.everything {
        return Span { lo: 0, hi: end, is_exact: true, parts: u64::MAX };
    }
    let below = |rank: u32| ranks.partition_point(|&other| other < rank);
    let (from, to) = (below(cell.lo), below(cell.hi).max(below(cell.lo)));
    let mut listed: Vec<u32> = cell.list.iter().map(|&value| position[value as usize]).collect();
    listed.retain(|&at| !(from..to).contains(&(at as usize)));
    listed.sort_unstable();
    let number = to - from + listed.len();
    if number == 0 {
        return Span { lo: 0, hi: 0, is_exact: true, parts: 0 };
    }
    let in_range = (from..to).map(|at| u32::try_from(at).expect("a position"));
    let ends = listed.first().into_iter().chain(listed.last()).copied();
    let ends: Vec<u32> =
        ends.chain(in_range.clone().next()).chain(in_range.clone().next_back()).collect();
    let lo = ends.iter().copied().min().unwrap_or(0);
    let hi = ends.iter().copied().max().unwrap_or(0) + 1;
    let is_exact = (hi - lo) as usize == number;
    let all = in_range.chain(listed);
    let parts =
        if is_exact { u64::MAX } else { all.fold(0, |all, at| all | part(at, ranks.len())) };
    Span { lo, hi, is_exact, parts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::released_cell::ReleasedCell;
    use crate::audit::tests::Seeded;
    use crate::request::Request;
    use crate::table::Coded;

    fn order(texts: &[String], labels: &[String], column: &str) -> (Cover, ColumnOrder) {
        let request = Request::parse(&format!("columns.c = {{ role = 'quasi'{column} }}")).unwrap();
        let source = Coded::from_cells(
            texts.iter().map(|text| Some(text.as_str()).filter(|text| !text.is_empty())),
        );
        let cells: Vec<ReleasedCell<'_>> =
            labels.iter().map(|label| ReleasedCell::Label(Some(label))).collect();
        let cover = Cover::new(&source, &cells, &request.columns["c"], &[]).unwrap();
        let order = column_order(&cover);
        (cover, order)
    }

    fn check(cover: &Cover, order: &ColumnOrder) {
        let values = order.value.len();
        for (cell, span) in (0..).zip(&order.spans) {
            let mut covered = 0;
            for (at, &value) in (0..).zip(&order.value) {
                assert_eq!(order.position[value as usize], at);
                if cover.covers(cell, value) {
                    covered += 1;
                    assert!(span.lo <= at && at < span.hi, "{span:?} {at}");
                    assert!(span.parts & part(at, values) != 0, "{span:?} {at}");
                }
            }
            assert_eq!(span.is_exact, covered == span.hi - span.lo, "{span:?} {covered}");
        }
    }

    #[test]
    fn spans_have_what_cells_cover() {
        let mut seeded = Seeded(8);
        let mut inexact = 0;
        for _ in 0..300 {
            let values = 1 + seeded.below(100);
            let mut texts: Vec<String> = (0..values).map(|n| n.to_string()).collect();
            if seeded.below(2) == 0 {
                texts.push(String::new());
            }
            let labels: Vec<String> = (0..6)
                .map(|_| {
                    let (a, b) = (seeded.below(values), seeded.below(values));
                    match seeded.below(5) {
                        0 => format!("[{}-{}]", a.min(b), a.max(b)),
                        1 => format!("{{{a}, {b}, \"\"}}"),
                        2 => format!("{{{a}, {b}}}"),
                        3 => "*".to_string(),
                        _ => "nothing".to_string(),
                    }
                })
                .collect();
            let kind = ["", ", kind = 'categorical'"][seeded.below(2)];
            let (cover, order) = order(&texts, &labels, kind);
            check(&cover, &order);
            inexact += order.spans.iter().filter(|span| !span.is_exact).count();
        }
        assert!(inexact > 100, "{inexact}");
    }

    #[test]
    fn the_groups_of_a_hierarchy_lie_side_by_side() {
        let texts: Vec<String> = (0..60).map(|n| format!("{}{}{}", n % 3, n % 4, n % 5)).collect();
        let labels: Vec<String> =
            ["0**", "1**", "12*", "00*", "23*", "204"].map(String::from).to_vec();
        let (cover, order) = order(&texts, &labels, ", hierarchy = { prefix = [2, 1] }");
        check(&cover, &order);
        assert!(order.spans.iter().all(|span| span.is_exact && span.lo < span.hi));
    }
}
