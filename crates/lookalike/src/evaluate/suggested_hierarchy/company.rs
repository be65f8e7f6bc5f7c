//! Values by their company: those whose rows look alike in the other columns come together.
//!
//! Again and again the two groups are united whose union says least less about the other columns:
//! the rows of both times the Jensen-Shannon divergence of their distributions, summed over the
//! columns.
//!
//! # Complexity
//! O(v^2 (c + v)) for v values and c cells of all distributions.
//!
//! # Reference
//! N. Slonim, N. Tishby, Agglomerative Information Bottleneck, NIPS 1999.

use super::{Partition, Values, text_order};
use crate::domain::parse::number;
use crate::table::{Coded, Table};

/// Labels of another column; a column with more of them says too little about each.
const MOST_LABELS: usize = 100;

/// Groups of equally many rows that a column of numbers is cut into.
const NUMBER_GROUPS: usize = 10;

/// For each value and each other column the counts of the cells beside it.
pub(super) struct Company {
    /// By value, then by cell of all columns.
    counts: Vec<Vec<f64>>,
}

impl Company {
    pub(super) fn new(table: &Table, column: &str, values: &Values) -> Company {
        let mut company = Company { counts: vec![Vec::new(); values.texts.len()] };
        let own = table.coded(column);
        for other in table.columns().iter().filter(|other| other.name != column) {
            let coded = table.coded(&other.name);
            let Some((cells, of_code)) = cells(coded) else { continue };
            let from = company.counts[0].len();
            company.counts.iter_mut().for_each(|counts| counts.resize(from + cells, 0.0));
            for (code, of) in own.codes().iter().zip(coded.codes().iter()) {
                if let Some(place) = values.places[code as usize] {
                    company.counts[place][from + of_code[of as usize]] += 1.0;
                }
            }
        }
        company
    }

    /// The levels of united groups, from these groups on, with as many groups as each of the
    /// `targets` says.
    pub(super) fn merged(
        &self,
        mut groups: Partition,
        rows: &[u64],
        targets: &[usize],
    ) -> Vec<Partition> {
        #[allow(clippy::cast_precision_loss, reason = "rows have 32 bits")]
        let mut sizes: Vec<f64> = groups
            .iter()
            .map(|group| group.iter().map(|&at| rows[at]).sum::<u64>() as f64)
            .collect();
        let mut counts: Vec<Vec<f64>> = groups
            .iter()
            .map(|group| {
                let mut sum = vec![0.0; self.counts[0].len()];
                group.iter().for_each(|&at| add(&mut sum, &self.counts[at]));
                sum
            })
            .collect();
        let price = |sizes: &[f64], counts: &[Vec<f64>], a: usize, b: usize| {
            cost((sizes[a], &counts[a]), (sizes[b], &counts[b]))
        };
        let mut costs: Vec<Vec<f64>> = (0..groups.len())
            .map(|b| (0..b).map(|a| price(&sizes, &counts, a, b)).collect())
            .collect();
        let mut levels = Vec::new();
        for &target in targets {
            while groups.len() > target {
                let pairs = (0..groups.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
                let (a, b) = pairs
                    .min_by(|&(a, b), &(c, d)| costs[b][a].total_cmp(&costs[d][c]))
                    .expect("there are two groups");
                // The later group joins the earlier one and leaves its place.
                let (group, from) = (groups.remove(b), counts.remove(b));
                groups[a].extend(group);
                add(&mut counts[a], &from);
                sizes[a] += sizes[b];
                sizes.remove(b);
                costs.remove(b);
                costs.iter_mut().skip(b).for_each(|costs| {
                    costs.remove(b);
                });
                costs[a] = (0..a).map(|other| price(&sizes, &counts, other, a)).collect();
                for (other, costs) in costs.iter_mut().enumerate().skip(a + 1) {
                    costs[a] = price(&sizes, &counts, a, other);
                }
            }
            levels.push(groups.clone());
        }
        levels
    }
}

fn add(sum: &mut [f64], more: &[f64]) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// What two groups lose when they are united: their sizes, and the counts of the cells beside them.
fn cost((size_a, a): (f64, &[f64]), (size_b, b): (f64, &[f64])) -> f64 {
    let entropy =
        |count: f64, size: f64| if count > 0.0 { count * (size / count).ln() } else { 0.0 };
    a.iter()
        .zip(b)
        .map(|(&a, &b)| entropy(a + b, size_a + size_b) - entropy(a, size_a) - entropy(b, size_b))
        .sum()
}

/// The number of cells of a column, and the cell of each code: its labels, or groups of its
/// numbers. None for a column that says nothing about groups of rows.
fn cells(coded: &Coded) -> Option<(usize, Vec<usize>)> {
    let values = coded.values();
    let missing = |at: usize| values[at].is_none();
    let numbers: Option<Vec<f64>> =
        values.iter().flatten().map(|text| number(text)).collect::<Option<_>>();
    if let Some(numbers) = numbers.filter(|numbers| numbers.len() > 2 * NUMBER_GROUPS) {
        let mut rows = vec![0usize; values.len()];
        coded.codes().iter().for_each(|code| rows[code as usize] += 1);
        let codes: Vec<usize> = (0..values.len()).filter(|&at| !missing(at)).collect();
        let mut sorted: Vec<(f64, usize)> = numbers.into_iter().zip(codes).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: usize = sorted.iter().map(|&(_, at)| rows[at]).sum();
        let mut of_code = vec![NUMBER_GROUPS; values.len()];
        let mut before = 0;
        for (_, at) in sorted {
            of_code[at] = before * NUMBER_GROUPS / total.max(1);
            before += rows[at];
        }
        return Some((NUMBER_GROUPS + 1, of_code));
    }
    if !(2..=MOST_LABELS).contains(&values.len()) {
        return None;
    }
    let order = text_order(values);
    let of_code = values
        .iter()
        .map(|value| value.as_deref().map_or(order.len(), |text| order[text] as usize))
        .collect();
    Some((order.len() + 1, of_code))
}
