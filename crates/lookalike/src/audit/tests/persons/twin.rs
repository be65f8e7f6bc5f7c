//! The definitions of both readings with plain maps, compared with the audit on thousands of random
//! tables. No code is shared with it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::{PersonsVerdict, Verdict, audit, audit_against};
use super::super::Seeded;
use super::made::{Case, QUASI, case, form};
use crate::request::{Persons, Request};

/// A person's weight.
const W: i128 = 720_720;

/// The rows of a class: released row, person, count.
type Members = Vec<(usize, usize, i128)>;

/// The classes of some of the quasi-identifiers.
fn classes(case: &Case, columns: &[usize]) -> BTreeMap<Vec<String>, Members> {
    let mut classes: BTreeMap<Vec<String>, Members> = BTreeMap::new();
    for origin in &case.origins {
        let row = origin.released as usize;
        let cells = columns.iter().map(|&column| case.release[row][column].clone()).collect();
        let person = case.persons[origin.source as usize];
        classes.entry(cells).or_default().push((row, person, origin.count.into()));
    }
    classes
}

fn persons(members: &Members) -> BTreeSet<usize> {
    members.iter().map(|member| member.1).collect()
}

/// A sensitive value in one spelling.
fn value(case: &Case, column: usize, row: usize) -> String {
    let text = &case.release[row][column];
    if column == QUASI + 1 { text.replace(".0", "") } else { text.clone() }
}

/// The values of each person.
fn values(case: &Case, column: usize, members: &Members) -> BTreeMap<usize, BTreeSet<String>> {
    let mut values: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for &(row, person, _) in members {
        values.entry(person).or_default().insert(value(case, column, row));
    }
    values
}

/// Persons with each value, in the reading of whole persons; weights in that of rows.
fn counts(case: &Case, column: usize, members: &Members) -> (BTreeMap<String, i128>, i128) {
    if case.form.reading == Persons::Rows {
        return weights(case, column, members);
    }
    let values = values(case, column, members);
    let mut counts = BTreeMap::new();
    values.values().flatten().for_each(|value| *counts.entry(value.clone()).or_default() += 1);
    (counts, values.len() as i128)
}

/// The distribution of the values, and its total.
fn weights(case: &Case, column: usize, members: &Members) -> (BTreeMap<String, i128>, i128) {
    let mut weights: BTreeMap<String, i128> = BTreeMap::new();
    match case.form.reading {
        Persons::Whole => {
            for values in values(case, column, members).values() {
                let part = W / values.len() as i128;
                values.iter().for_each(|value| *weights.entry(value.clone()).or_default() += part);
            }
        }
        Persons::Rows => {
            for &(row, person, count) in members {
                let own = case.persons.iter().zip(&case.source).filter(|pair| *pair.0 == person);
                let rows: i128 = own.map(|pair| i128::from(case.count(pair.1))).sum();
                *weights.entry(value(case, column, row)).or_default() += W / rows * count;
            }
        }
    }
    let total = weights.values().sum();
    (weights, total)
}

fn descending(counts: &BTreeMap<String, i128>) -> Vec<i128> {
    let mut sorted: Vec<i128> = counts.values().copied().collect();
    sorted.sort_by(|a, b| b.cmp(a));
    sorted
}

/// The distance to the whole table: numerator and denominator.
fn distance(case: &Case, column: usize, members: &Members, all: &Members) -> (i128, i128) {
    let (class, size) = weights(case, column, members);
    let (table, total) = weights(case, column, all);
    let extra = |value: &String| {
        class.get(value).unwrap_or(&0) * total - table.get(value).unwrap_or(&0) * size
    };
    let surplus = |extras: Vec<i128>| extras.into_iter().map(|extra| extra.max(0)).sum::<i128>();
    match column - QUASI {
        0 => (surplus(table.keys().map(extra).collect()), size * total),
        1 => {
            // Between neighbours moves the sum of all extras up to there.
            let mut moved = 0;
            let mut so_far = 0;
            for value in table.keys() {
                so_far += extra(value);
                moved += so_far.abs();
            }
            (moved, size * total * (table.len() as i128 - 1).max(1))
        }
        _ => {
            // Values below one group are half as far apart as others: in halves, and in wholes.
            let groups: BTreeSet<char> =
                table.keys().map(|value| value.chars().next().unwrap()).collect();
            let of = |group: char| table.keys().filter(move |value| value.starts_with(group));
            let within: i128 = groups
                .iter()
                .map(|&group| {
                    let extras: Vec<i128> = of(group).map(extra).collect();
                    let minus = extras.iter().map(|extra| (-extra).max(0)).sum::<i128>();
                    surplus(extras).min(minus)
                })
                .sum();
            let sums = groups.iter().map(|&group| of(group).map(extra).sum()).collect();
            (within + 2 * surplus(sums), size * total * 2)
        }
    }
}

/// Whether a class satisfies a rule, and its measure.
type Found = (bool, f64);

#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn ratio(part: i128, whole: i128) -> f64 {
    part as f64 / whole as f64
}

/// Every rule of [`requested`] by its definition: the beginning of its words, and the result on one
/// class.
fn definitions(case: &Case, members: &Members, all: &Members) -> Vec<(&'static str, Found)> {
    let n = persons(members).len() as i128;
    let mut found = vec![("k = 2 persons on age, zip", (n >= 2, ratio(n, 1)))];
    let s = QUASI;
    let (counts_s, whole) = counts(case, s, members);
    let sorted = descending(&counts_s);
    let (most, top): (i128, i128) = (sorted[0], sorted.iter().take(1).sum());
    found.push(("alpha = 0.6 on s", (most * 10 <= whole * 6, ratio(most, whole))));
    let least_of = |counts: &[i128], whole: i128| {
        (1..=counts.len()).find(|&j| counts[..j].iter().sum::<i128>() >= whole).unwrap()
    };
    let distinct = match case.form.reading {
        Persons::Whole => least_of(&sorted, whole),
        Persons::Rows => sorted.len(),
    };
    found.push(("distinct = 2 on s", (distinct >= 2, distinct as f64)));
    if case.form.reading == Persons::Whole {
        // By the definition: the sum of the l - 1 greatest is below n.
        assert_eq!(distinct >= 2, top < whole);
    }
    let (distribution, total) = weights(case, s, members);
    let shares = distribution.values().map(|&part| ratio(part, total));
    let entropy = -shares.map(|share| share * share.ln()).sum::<f64>();
    found.push(("entropy = 1.5 on s", (entropy >= 1.5f64.ln() * (1.0 - 1e-9), entropy.exp())));
    let tail = (whole - top).max(0);
    found.push(("recursive c = 2, l = 2 on s", (most < 2 * tail, ratio(most, tail))));
    let (counts_grade, whole) = counts(case, s + 1, members);
    let most = descending(&counts_grade)[0];
    found.push(("l = 2 on grade", (most * 2 <= whole, ratio(whole, most))));
    let named = ["a1", "b1"];
    let part: i128 = match case.form.reading {
        Persons::Whole => {
            let has = |own: &&BTreeSet<String>| named.iter().any(|value| own.contains(*value));
            values(case, s + 2, members).values().filter(has).count() as i128
        }
        Persons::Rows => {
            let (weights, _) = weights(case, s + 2, members);
            named.iter().map(|value| weights.get(*value).copied().unwrap_or(0)).sum()
        }
    };
    let (_, whole) = counts(case, s + 2, members);
    let alpha = "alpha = 0.7 on 2 values of tree together";
    found.push((alpha, (part * 10 <= whole * 7, ratio(part, whole))));
    for (name, column) in
        [("t = 0.3 on s,", s), ("t = 0.3 on grade,", s + 1), ("t = 0.3 on tree,", s + 2)]
    {
        let (num, den) = distance(case, column, members, all);
        found.push((name, (num * 10 <= den * 3, ratio(num, den))));
    }
    found
}

/// The rules; t only where nothing is suppressed.
fn requested(with_t: bool) -> [String; 3] {
    let t = |more: &str| if with_t { format!(", t = 0.3{more}") } else { String::new() };
    let recursive = "recursive = { c = 2, l = 2 }";
    [
        format!(", alpha = 0.6, distinct = 2, entropy = 1.5, {recursive}{}", t("")),
        format!(", l = 2, kind = 'numeric'{}", t(", distance = 'ordered'")),
        format!(
            ", alpha = 0.7, values = ['a1', 'b1'], hierarchy = {{ prefix = [1] }}{}",
            t(", distance = 'hierarchical'")
        ),
    ]
}

fn close(a: f64, b: f64) -> bool {
    (a.is_infinite() && b.is_infinite()) || (a - b).abs() < 1e-6
}

/// Compares every rule of a verdict with its definition; returns the number of broken rules.
fn compare_rules(case: &Case, verdict: &Verdict) -> usize {
    let classes = classes(case, &[0, 1]);
    let all: Members = classes.values().flatten().copied().collect();
    let mut rules: BTreeMap<&str, Vec<(Found, u64)>> = BTreeMap::new();
    for members in classes.values() {
        let size = persons(members).len() as u64;
        for (name, found) in definitions(case, members, &all) {
            rules.entry(name).or_default().push((found, size));
        }
    }
    let on_age = self::classes(case, &[0]);
    let sizes = on_age.values().map(|members| persons(members).len() as u64);
    let k_on_age = sizes.map(|size| ((size >= 3, ratio(size.into(), 1)), size)).collect();
    rules.insert("k = 3 persons on age", k_on_age);
    let mut broken = 0;
    for rule in &verdict.rules {
        let is_own = |name: &&&str| rule.rule.starts_with(**name) || rule.rule == **name;
        // `k = 2 persons on age, zip` begins with no other name.
        let name = rules.keys().filter(is_own).max_by_key(|name| name.len()).unwrap();
        let found = &rules[name];
        let bad: Vec<u64> = found.iter().filter(|one| !one.0.0).map(|one| one.1).collect();
        let label = format!("{} {:?}\n{case:#?}", rule.rule, case.form);
        assert_eq!(rule.violations, bad.len() as u64, "{label}");
        assert_eq!(rule.rows, bad.iter().sum::<u64>(), "{label}");
        let measures = found.iter().map(|one| one.0.1);
        let is_least = name.starts_with("k =")
            || ["l =", "distinct", "entropy"].iter().any(|begin| name.starts_with(begin));
        let worst = if is_least {
            measures.fold(f64::INFINITY, f64::min)
        } else {
            measures.fold(0.0, f64::max)
        };
        assert!(close(rule.worst, worst), "{} {worst} {label}", rule.worst);
        broken += usize::from(!bad.is_empty());
    }
    broken
}

/// Compares the measures with their definitions.
fn compare_measures(case: &Case, verdict: &Verdict) {
    let measures = &verdict.measures;
    let classes = classes(case, &[0, 1]);
    let sizes: Vec<u64> = classes.values().map(|class| persons(class).len() as u64).collect();
    let mut smallest: BTreeMap<usize, u64> = BTreeMap::new();
    for members in classes.values() {
        let size = persons(members).len() as u64;
        for person in persons(members) {
            let least = smallest.entry(person).or_insert(size);
            *least = size.min(*least);
        }
    }
    let people = smallest.len() as u64;
    assert_eq!(measures.persons, Some(people));
    let rows: u64 = case.release.iter().map(|row| u64::from(case.count(row))).sum();
    assert_eq!(measures.rows, rows);
    assert_eq!((measures.k, measures.classes), (*sizes.iter().min().unwrap(), sizes.len() as u64));
    let below = |size: u64| smallest.values().filter(|least| **least < size).count() as u64;
    assert_eq!(measures.uniques, below(2));
    for at in &measures.risk.at_risk {
        assert_eq!(at.rows, below(at.one_in));
    }
    let average = smallest.values().map(|&size| 1.0 / ratio(size.into(), 1)).sum::<f64>();
    assert!(close(measures.risk.average, average / ratio(people.into(), 1)));
    assert_eq!(measures.histogram.iter().map(|band| band.rows).sum::<u64>(), people);
    assert_eq!(measures.histogram.iter().map(|band| band.classes).sum::<u64>(), measures.classes);
    let all: Members = classes.values().flatten().copied().collect();
    for (column, found) in (QUASI..).zip(&measures.sensitive) {
        let alpha = classes.values().map(|members| {
            let (counts, whole) = counts(case, column, members);
            ratio(descending(&counts)[0], whole)
        });
        assert!(close(found.alpha, alpha.fold(0.0, f64::max)), "{found:?}");
        if column == QUASI {
            let far = classes.values().map(|members| distance(case, column, members, &all));
            let far = far.map(|(num, den)| ratio(num, den)).fold(0.0, f64::max);
            assert!(close(found.t_equal, far), "{found:?} {far}");
        }
    }
}

/// Whether persons are whole: those in several classes, those in part, those not released.
fn wholeness(case: &Case) -> (u64, u64, u64, u64) {
    let classes = classes(case, &[0, 1]);
    let everybody: BTreeSet<usize> = case.persons.iter().copied().collect();
    let (mut split, mut partial, mut gone) = (0, 0, 0);
    for &person in &everybody {
        let is_in = |members: &&Members| persons(members).contains(&person);
        split += u64::from(classes.values().filter(is_in).count() > 1);
        let own = |at: &usize| case.persons[*at] == person;
        let rows: u32 =
            (0..case.source.len()).filter(own).map(|at| case.count(&case.source[at])).sum();
        let used = case.origins.iter().filter(|origin| own(&(origin.source as usize)));
        let used: u32 = used.map(|origin| origin.count).sum();
        gone += u64::from(used == 0);
        partial += u64::from(used > 0 && used < rows);
    }
    (split, partial, gone, everybody.len() as u64)
}

#[test]
fn both_readings_agree_with_plain_maps_on_random_tables() {
    let mut seeded = Seeded(181);
    let (mut held, mut broken, mut suppressed) = (0, [0usize; 12], [0; 2]);
    let mut only_rows = 0;
    for round in 0..6000 {
        let form = form(round);
        let with_t = seeded.below(2) == 0;
        let people = 2 + seeded.below(6);
        let case = case(&mut seeded, form, people, !with_t);
        let lines = requested(with_t);
        let mut top = "k = 2\nrules = [{ k = 3, columns = ['age'] }]".to_string();
        if !with_t {
            top += "\nlimits.suppress = '25%'";
        }
        let request = case.request(&top, [&lines[0], &lines[1], &lines[2]]);
        let verdict = case.audited(&request);
        broken[compare_rules(&case, &verdict)] += 1;
        compare_measures(&case, &verdict);
        let (split, partial, gone, everybody) = wholeness(&case);
        let found: &PersonsVerdict = verdict.persons.as_ref().unwrap();
        assert_eq!((found.reading, found.split), (form.reading, split));
        assert_eq!((found.released, found.source), (everybody - gone, Some(everybody)));
        assert_eq!(found.partial, Some(partial));
        let truth = verdict.truth.as_ref().unwrap();
        assert_eq!(truth.violations, 0, "{truth:?}\n{case:?}");
        let rows =
            |rows: &[Vec<String>]| rows.iter().map(|row| u64::from(case.count(row))).sum::<u64>();
        let (released, all) = (rows(&case.release), rows(&case.source));
        let share = if with_t { 0 } else { 1 };
        let allowed = match form.reading {
            Persons::Whole => gone * 4 <= everybody * share,
            Persons::Rows => (all - released) * 4 <= all * share,
        };
        assert_eq!(truth.suppression_allowed, allowed, "{truth:?}\n{case:?}");
        let rules_hold = verdict.rules.iter().all(|rule| rule.violations == 0);
        assert!(verdict.leaks.is_empty() && found.holds());
        assert_eq!(verdict.holds(), rules_hold && allowed);
        held += usize::from(verdict.holds());
        suppressed[usize::from(allowed)] += usize::from(all > released);

        // Where the request does not say, the release itself decides.
        let by = |persons| case.audited(&Request { persons, ..request.clone() });
        let reading = by(None).persons.unwrap().reading;
        let expected = if form.pseudonyms {
            Persons::Whole
        } else if split > 0 || partial > 0 {
            Persons::Rows
        } else {
            let (whole, rows) = (by(Some(Persons::Whole)), by(Some(Persons::Rows)));
            let is_rows = !whole.holds() && rows.holds();
            only_rows += usize::from(is_rows);
            if is_rows { Persons::Rows } else { Persons::Whole }
        };
        assert_eq!(reading, expected, "{case:?}");

        // By pseudonyms alone the same numbers are found.
        if form.pseudonyms {
            let release = case.release_table();
            let alone = audit(&release, &request).unwrap();
            assert_eq!(compare_rules(&case, &alone), compare_rules(&case, &verdict));
            compare_measures(&case, &alone);
            let against = audit_against(&release, &case.source_table(), &request).unwrap();
            assert_eq!(against.holds(), verdict.holds(), "{against:?}\n{case:?}");
        }
    }
    assert!(held > 50 && suppressed.iter().all(|rounds| *rounds > 300), "{held} {suppressed:?}");
    assert!(only_rows > 10, "{only_rows}");
    assert!(broken[..8].iter().all(|rounds| *rounds > 50), "{broken:?}");
}
