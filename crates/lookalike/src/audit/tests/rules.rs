//! The arithmetic of the audit against plain definitions.

use super::super::ground_distance::{Fraction, distance, ground_distance};
use super::super::row_counts::RowCounts;
use super::super::rules::{ClassCounts, Rule, Sensitive};
use super::{Seeded, audited, coded, request};
use crate::request::{Distance, Request};

/// A column of small numbers, of which the first `class` rows are the class that is checked.
struct Trial {
    cells: Vec<String>,
    class: usize,
}

impl Trial {
    fn new(seeded: &mut Seeded) -> Trial {
        let values = 1 + seeded.below(5);
        let class = 1 + seeded.below(8);
        let rows = class + seeded.below(12);
        Trial { cells: (0..rows).map(|_| seeded.below(values).to_string()).collect(), class }
    }

    fn tallied<T>(
        &self,
        request: &Request,
        use_it: impl FnOnce(&Sensitive<'_>, &ClassCounts<'_>) -> T,
    ) -> T {
        let column = coded(self.cells.iter().map(String::as_str));
        let sensitive = Sensitive::new(&column, "s", request, &RowCounts::single(self.cells.len()));
        let mut counts = vec![0; sensitive.values.len()];
        (0..u32::try_from(self.class).unwrap())
            .for_each(|row| counts[sensitive.of(row) as usize] += 1);
        let present: Vec<u32> =
            (0..).zip(&counts).filter(|(_, count)| **count > 0).map(|(value, _)| value).collect();
        use_it(&sensitive, &ClassCounts::of_rows(self.class as u64, &counts, &present))
    }

    fn count(&self, value: &str) -> f64 {
        self.cells[..self.class].iter().filter(|cell| *cell == value).count() as f64
    }

    fn shares(&self) -> Vec<f64> {
        let mut values: Vec<&String> = self.cells[..self.class].iter().collect();
        values.sort();
        values.dedup();
        values.iter().map(|value| self.count(value) / self.class as f64).collect()
    }

    fn holds(&self, rule: &str) -> bool {
        let request = request(&format!(
            "[columns]\nq = {{ role = \"quasi\" }}\ns = {{ role = \"sensitive\", {rule} }}"
        ));
        let roles = request.roles(&["q".to_string(), "s".to_string()]).unwrap();
        let specs = request.rules(&roles).unwrap();
        self.tallied(&request, |sensitive, class| {
            let distance = request.columns["s"].distance.unwrap_or_default();
            let ground = ground_distance(distance, "s", sensitive, &request).unwrap();
            let mut rule = Rule::new(&specs[0], Some(sensitive), ground, &[]);
            rule.evaluate(class, Some(sensitive));
            rule.verdict().violations == 0
        })
    }
}

/// Shortest paths again and again: the least cost of moving integer masses `from` to `to`,
/// `cost[i][j]` a unit.
fn transport(from: &[u64], to: &[u64], cost: &[Vec<u64>]) -> u64 {
    let n = from.len();
    let (mut left, mut open) = (from.to_vec(), to.to_vec());
    let mut flow = vec![vec![0u64; n]; n];
    let mut total = 0i64;
    while left.iter().any(|&mass| mass > 0) {
        // Nodes 0..n give, n..2n take; Bellman and Ford over the residual edges.
        let mut far: Vec<i64> = (0..2 * n)
            .map(|node| if node < n && left[node] > 0 { 0 } else { i64::MAX / 4 })
            .collect();
        let mut before = vec![usize::MAX; 2 * n];
        for _ in 0..2 * n {
            for (i, row) in cost.iter().enumerate() {
                for (j, &step) in row.iter().enumerate() {
                    let step = i64::try_from(step).unwrap();
                    if far[i] + step < far[n + j] {
                        (far[n + j], before[n + j]) = (far[i] + step, i);
                    }
                    if flow[i][j] > 0 && far[n + j] - step < far[i] {
                        (far[i], before[i]) = (far[n + j] - step, n + j);
                    }
                }
            }
        }
        let end = (0..n).filter(|&j| open[j] > 0).min_by_key(|&j| far[n + j]).unwrap();
        let mut node = n + end;
        while before[node] != usize::MAX {
            let last = before[node];
            if last < n {
                flow[last][node - n] += 1
            } else {
                flow[node][last - n] -= 1
            }
            node = last;
        }
        left[node] -= 1;
        open[end] -= 1;
        total += far[n + end];
    }
    u64::try_from(total).unwrap()
}

/// The earth mover's distance by transport; ground distances are `cost / longest`.
fn moved(trial: &Trial, values: &[&str], cost: &[Vec<u64>], longest: u64) -> (u64, u64) {
    let whole = |value: &str| trial.cells.iter().filter(|cell| *cell == value).count() as u64;
    let mine = |value: &str| {
        trial.cells[..trial.class].iter().filter(|cell| *cell == value).count() as u64
    };
    let (size, rows) = (trial.class as u64, trial.cells.len() as u64);
    let from: Vec<u64> = values.iter().map(|value| mine(value) * rows).collect();
    let to: Vec<u64> = values.iter().map(|value| whole(value) * size).collect();
    (transport(&from, &to, cost), size * rows * longest)
}

#[track_caller]
fn same_distance(trial: &Trial, kind: Distance, request: &Request, (num, den): (u64, u64)) {
    let found = trial.tallied(request, |sensitive, class| {
        distance(&ground_distance(kind, "s", sensitive, request).unwrap(), class, sensitive)
    });
    assert_eq!(
        found.num * u128::from(den),
        u128::from(num) * found.den,
        "{kind:?} {:?} {}",
        trial.cells,
        trial.class
    );
}

#[test]
fn every_distance_equals_the_cheapest_transport() {
    let mut seeded = Seeded(5);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tree.csv");
    std::fs::write(&file, "0;low;*\n1;low;*\n2;high;*\n3;high;*\n4;4;*\n").unwrap();
    let flat = request("[columns]\ns = { role = \"sensitive\", t = 1, distance = \"ordered\" }");
    let tree = request(&format!(
        "[columns]\ns = {{ role = \"sensitive\", hierarchy = {:?} }}",
        file.display().to_string()
    ));
    let listed = request(
        "[columns]\ns = { role = \"sensitive\", order = [\"d\", \"b\", \"a\", \"e\", \"c\"] }",
    );
    let place =
        |value: &str| ["d", "b", "a", "e", "c"].iter().position(|label| *label == value).unwrap();
    let cost = |values: &[&str], step: &dyn Fn(usize, usize) -> u64| -> Vec<Vec<u64>> {
        (0..values.len())
            .map(|i| (0..values.len()).map(|j| if i == j { 0 } else { step(i, j) }).collect())
            .collect()
    };
    for _ in 0..400 {
        let mut trial = Trial::new(&mut seeded);
        let cells = trial.cells.clone();
        let mut values: Vec<&str> = cells.iter().map(String::as_str).collect();
        values.sort_unstable();
        values.dedup();
        same_distance(
            &trial,
            Distance::Equal,
            &flat,
            moved(&trial, &values, &cost(&values, &|_, _| 1), 1),
        );
        let steps = cost(&values, &|i, j| i.abs_diff(j) as u64);
        same_distance(
            &trial,
            Distance::Ordered,
            &flat,
            moved(&trial, &values, &steps, (values.len() as u64 - 1).max(1)),
        );
        let half = |value: &str| match value {
            "0" | "1" => 0,
            "2" | "3" => 1,
            _ => 2,
        };
        let high = cost(&values, &|i, j| if half(values[i]) == half(values[j]) { 1 } else { 2 });
        same_distance(&trial, Distance::Hierarchical, &tree, moved(&trial, &values, &high, 2));
        for cell in &mut trial.cells {
            *cell = ["a", "b", "c", "d", "e"][cell.parse::<usize>().unwrap()].to_string();
        }
        let cells = trial.cells.clone();
        let mut values: Vec<&str> = cells.iter().map(String::as_str).collect();
        values.sort_by_key(|value| place(value));
        values.dedup();
        same_distance(
            &trial,
            Distance::Ordered,
            &listed,
            moved(&trial, &values, &steps, (values.len() as u64 - 1).max(1)),
        );
    }
}

#[test]
fn every_rule_agrees_with_its_plain_definition() {
    let mut seeded = Seeded(9);
    let mut kept = [0; 6];
    for _ in 0..3000 {
        let trial = Trial::new(&mut seeded);
        let shares = trial.shares();
        let most = shares.iter().copied().fold(0.0, f64::max);
        let percent = 1 + seeded.below(99);
        let limit = percent as f64 / 100.0;
        // Away from the border the plain definition decides; on it, integers do, which has tests of
        // its own.
        let mut agree = |at: usize, rule: String, left: f64, right: f64| {
            if (left - right).abs() > 1e-7 {
                kept[at] += usize::from(left < right);
                assert_eq!(
                    trial.holds(&rule),
                    left < right,
                    "{rule} on {:?} {}",
                    trial.cells,
                    trial.class
                );
            }
        };
        agree(0, format!("alpha = 0.{percent:02}"), most, limit);
        let named = (trial.count("0") + trial.count("2")) / trial.class as f64;
        agree(1, format!("alpha = 0.{percent:02}, values = [\"0\", \"2\", \"9\"]"), named, limit);
        let l = 1 + seeded.below(4);
        agree(2, format!("distinct = {l}"), l as f64 - 0.5, shares.len() as f64);
        let entropy: f64 = shares.iter().map(|share| -share * share.ln()).sum();
        agree(3, format!("entropy = {l}.{percent:02}"), (l as f64 + limit).ln(), entropy);
        let mut ranked = shares.clone();
        ranked.sort_by(|a, b| b.total_cmp(a));
        let tail: f64 = ranked.iter().skip(l - 1).sum();
        agree(
            4,
            format!("recursive = {{ c = {l}.{percent:02}, l = {l} }}"),
            most,
            (l as f64 + limit) * tail,
        );
        let far: f64 = (0..5)
            .map(|value| {
                let value = value.to_string();
                let whole = trial.cells.iter().filter(|cell| **cell == value).count() as f64
                    / trial.cells.len() as f64;
                (trial.count(&value) / trial.class as f64 - whole).abs() / 2.0
            })
            .sum();
        agree(5, format!("t = 0.{percent:02}"), far, limit);
    }
    assert!(kept.iter().all(|&kept| kept > 200), "each rule must hold often: {kept:?}");
}

#[test]
fn borders_are_decided_exactly() {
    let class = |counts: &[usize], rest: usize| {
        let mut cells: Vec<String> = counts
            .iter()
            .enumerate()
            .flat_map(|(v, &n)| std::iter::repeat_n(v.to_string(), n))
            .collect();
        let class = cells.len();
        cells.extend(std::iter::repeat_n("0".to_string(), rest));
        Trial { cells, class }
    };
    assert!(class(&[29, 29, 29, 13], 0).holds("alpha = 0.29"));
    assert!(!class(&[30, 29, 29, 12], 0).holds("alpha = 0.29"));
    assert!(class(&[29, 71], 0).holds("alpha = 0.29, values = [\"0\"]"));
    assert!(class(&[1, 1, 1], 0).holds("l = 3"));
    assert!(!class(&[2, 1, 1], 0).holds("l = 3"));
    for l in 2..40 {
        for each in [1, 2, 7, 1000] {
            assert!(
                class(&vec![each; l], 0).holds(&format!("entropy = {l}")),
                "{l} values, {each} each"
            );
            assert!(!class(&vec![each; l], 0).holds(&format!("entropy = {l}.000001")));
        }
    }
    assert!(class(&[1], 0).holds("entropy = 1"));
    assert!(!class(&[2, 1], 0).holds("recursive = { c = 2, l = 2 }"), "below, not at most");
    assert!(class(&[2, 1], 0).holds("recursive = { c = 2.001, l = 2 }"));
    assert!(!class(&[2, 1], 0).holds("recursive = { c = 100, l = 3 }"), "no third value, no tail");
    // A class of value 1 alone in a table of 29 and 71: the distance is 71/100.
    assert!(class(&[0, 29], 71).holds("t = 0.71"));
    assert!(!class(&[0, 29], 71).holds("t = 0.709999"));
    assert!(class(&[3, 3], 0).holds("t = 0"));
}

#[test]
fn fractions_are_compared_without_overflow() {
    let mut seeded = Seeded(1);
    for _ in 0..20_000 {
        let mut part = || seeded.below(40) as u128;
        let (a, b, c, d) = (part(), part() + 1, part(), part() + 1);
        assert_eq!(
            Fraction { num: a, den: b }.at_most(Fraction { num: c, den: d }),
            a * d <= c * b,
            "{a}/{b} {c}/{d}"
        );
    }
    let (big, less) = (
        Fraction { num: u128::MAX - 1, den: u128::MAX },
        Fraction { num: u128::MAX - 2, den: u128::MAX - 1 },
    );
    assert!(less.at_most(big) && !big.at_most(less) && big.at_most(big));
}

#[test]
fn missing_spellings_are_one_sensitive_value_and_no_wildcard_in_a_class() {
    let lines = ["q|s", "1|", "1|?", "1|NA", "2|a", "2|b", "2|?"];
    let asked = "k = 3\nmissing = [\"?\", \"NA\"]\n[columns]\nq = { role = \"quasi\" }\ns = { \
        role = \"sensitive\", distinct = 2 }";
    let verdict = audited(&lines, asked);
    assert_eq!(verdict.rules[1].violations, 1, "three spellings of nothing are one value");
    assert_eq!(verdict.measures.sensitive[0].distinct, 1);
    let verdict = audited(
        &["q|s", "1|a", "|a", "*|a"],
        "k = 2\n[columns]\nq = { role = \"quasi\" }\ns = { role = \"sensitive\" }",
    );
    assert_eq!((verdict.measures.classes, verdict.rules[0].violations), (3, 3));
}
