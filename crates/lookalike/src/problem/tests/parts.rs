//! Parts of a table under the domain of the whole: solved one by one and put together they satisfy
//! every rule, and their losses add up.

use crate::audit::audit;
use crate::domain::{TableDomain, ValueCounts};
use crate::evaluate::loss::loss;
use crate::problem::partition::{Partition, Piece, rows};
use crate::problem::recoding::Recoding;
use crate::problem::{Numbering, Problem};
use crate::release::{CellFormat, Release};
use crate::request::{Request, Roles};
use crate::rng::{Key, Rng};
use crate::search::tuning::Tuning;
use crate::search::{Outcome, solve};
use crate::table::{self, Table};
use crate::{Algorithm, Budget, SearchOptions, testing};

/// The rules, each with the keys of the sensitive column and further keys of the request.
const RULES: [(&str, &str); 12] = [
    ("", ""),
    ("", "rules = [{ k = 12, columns = ['city'] }]"),
    ("", "limits.suppress = '10%'"),
    ("alpha = 0.7", "limits.suppress = '10%'"),
    ("alpha = 0.7, values = ['gout', 'cold']", ""),
    ("l = 1, distinct = 2", "output.publish = 'bounds'"),
    ("distinct = 3", "output.snap = true"),
    ("entropy = 2", "output.publish = 'set'"),
    ("recursive = { c = 2, l = 2 }", ""),
    ("t = 0.4", ""),
    ("t = 0.4, distance = 'ordered', order = ['cold', 'flu', 'gout']", ""),
    ("t = 0.5, distance = 'hierarchical', hierarchy = { prefix = [1] }", ""),
];

/// A request on the columns of a random table.
fn toml(keys: &str, top: &str) -> String {
    let comma = if keys.is_empty() { "" } else { ", " };
    format!(
        "k = 3\nseed = 5\n{top}\n[columns]\n\
         age = {{ role = 'quasi', hierarchy = {{ intervals = [4, 8] }} }}\n\
         height = {{ role = 'quasi', weight = 2 }}\ncity = {{ role = 'quasi' }}\n\
         illness = {{ role = 'sensitive'{comma}{keys} }}"
    )
}

/// A table under a request, its domain, and its problem.
struct Whole {
    lines: Vec<String>,
    table: Table,
    roles: Roles,
    request: Request,
    domain: TableDomain,
    problem: Problem,
}

impl Whole {
    fn new(text: &str, toml: &str) -> Whole {
        let table = testing::table(text);
        let (roles, request) = testing::request(&table, toml);
        let domain = TableDomain::of(&table, &roles, &request).unwrap();
        let problem = Problem::new(&table, &roles, &request).unwrap();
        let lines = text.lines().map(String::from).collect();
        Whole { lines, table, roles, request, domain, problem }
    }

    fn part(&self, lines: &[String]) -> (Table, crate::Result<Problem>) {
        let table = testing::table(&format!("{}\n{}\n", self.lines[0], lines.join("\n")));
        let problem = Problem::within(&self.domain, &table, &self.roles, &self.request);
        (table, problem)
    }

    /// A random split of the rows into parts that can be solved: one that cannot is united with
    /// the next, the last with the one before.
    fn parts(&self, rng: &mut Rng) -> Vec<(Table, Problem)> {
        let number = 2 + rng.below(3);
        let mut cells: Vec<Vec<String>> = vec![Vec::new(); usize::try_from(number).unwrap()];
        let by_value = rng.below(2) == 0;
        for line in &self.lines[1..] {
            let age: u64 = line.split(',').next().unwrap().parse().unwrap_or(20);
            let cell = if by_value { age * number / 40 } else { rng.below(number) };
            cells[usize::try_from(cell).unwrap()].push(line.clone());
        }
        let mut open: Vec<String> = Vec::new();
        let mut parts: Vec<(Vec<String>, (Table, Problem))> = Vec::new();
        for cell in cells.into_iter().filter(|cell| !cell.is_empty()) {
            open.extend(cell);
            if let (table, Ok(problem)) = self.part(&open) {
                parts.push((std::mem::take(&mut open), (table, problem)));
            }
        }
        while !open.is_empty() {
            open.extend(parts.pop().expect("the whole can be solved").0);
            if let (table, Ok(problem)) = self.part(&open) {
                parts.push((std::mem::take(&mut open), (table, problem)));
            }
        }
        parts.into_iter().map(|(_, part)| part).collect()
    }

    /// The tuple of the whole that has these codes.
    fn tuple(&self, codes: &[u32]) -> u32 {
        (0..).find(|&tuple| codes_of(&self.problem, tuple) == codes).unwrap()
    }

    /// The answers of the parts as one answer to the whole.
    fn union(&self, parts: &[(Table, Problem)], outcomes: &[Outcome]) -> Recoding {
        let mut groups = Partition::default();
        let (mut ranges, mut suppressed) = (Vec::new(), Vec::new());
        for ((_, problem), outcome) in parts.iter().zip(outcomes) {
            let there = |piece: &Piece| Piece {
                tuple: self.tuple(&codes_of(problem, piece.tuple)),
                ..*piece
            };
            let recoding = &outcome.recoding;
            for (at, class) in recoding.classes().iter().enumerate() {
                groups.push(class.iter().map(there));
                ranges.extend_from_slice(recoding.ranges(at));
            }
            suppressed.extend(recoding.suppressed().iter().map(there));
        }
        Recoding::new(&self.problem, &groups, &ranges, suppressed)
    }
}

/// The codes of a tuple, with those of its sensitive values.
fn codes_of(problem: &Problem, tuple: u32) -> Vec<u32> {
    let mut codes = vec![0; problem.sensitive_columns()];
    problem.sensitive_codes(tuple, &mut codes);
    codes.extend((0..problem.attributes().len()).map(|at| problem.code(at, tuple)));
    codes
}

fn options(algorithm: Algorithm) -> SearchOptions {
    SearchOptions { steps: Some(40), tuning: Tuning::tiny(), ..SearchOptions::new(algorithm, 3) }
}

#[test]
fn parts_under_the_domain_of_the_whole_make_one_release_that_satisfies_every_rule() {
    let (mut several, mut random) = (0, Rng::new(1));
    for (seed, (keys, top)) in (0..).zip(RULES) {
        let whole = Whole::new(&testing::random_table(seed, 90), &toml(keys, top));
        for algorithm in Algorithm::homogeneous() {
            let context = format!("{algorithm}, {keys}, {top}");
            let parts = whole.parts(&mut random);
            several += u32::from(parts.len() > 1);
            let outcomes: Vec<Outcome> = parts
                .iter()
                .map(|(_, problem)| solve(problem, options(algorithm), &Budget::unlimited()))
                .collect();
            let mut batches = Vec::new();
            let (mut ncp, mut suppressed) = (0.0, 0);
            for ((table, problem), outcome) in parts.iter().zip(&outcomes) {
                let (roles, request) = (&whole.roles, &whole.request);
                let (key, format) = (Key::from_seed(seed), CellFormat::Typed);
                let recoding = &outcome.recoding;
                let release =
                    Release::new(problem, recoding, table, roles, request, key, format).unwrap();
                batches.extend((0..release.batches()).map(|at| release.batch(at).unwrap()));
                ncp += loss(problem, recoding).ncp;
                suppressed += rows(recoding.suppressed());
            }
            assert!(suppressed <= whole.problem.allowance(), "{context}");
            let released =
                table::in_memory(&batches[0].schema(), batches.len(), |at| Ok(batches[at].clone()));
            let verdict = audit(&released.unwrap(), &whole.request).unwrap();
            assert!(verdict.holds(), "{context}: {verdict:?}");
            if !algorithm.is_global() {
                let union = loss(&whole.problem, &whole.union(&parts, &outcomes)).ncp;
                assert!(
                    (union - ncp).abs() <= 1e-9 * ncp.max(1.0),
                    "{context}: {union}, not {ncp}"
                );
            }
        }
    }
    assert!(several > 80, "{several} times there were several parts");
}

#[test]
fn a_table_under_its_own_domain_is_the_problem_of_the_table() {
    for (seed, (keys, top)) in (0..).zip(RULES) {
        let text = testing::random_table(seed, 60);
        for counted in [false, true] {
            let (text, top) = if counted {
                (testing::counted(&text, seed), format!("count = 'n'\n{top}"))
            } else {
                (text.clone(), top.to_string())
            };
            let whole = Whole::new(&text, &toml(keys, &top));
            let (table, roles, request) = (&whole.table, &whole.roles, &whole.request);
            let again = Problem::within(&whole.domain, table, roles, request).unwrap();
            let without_warnings = |problem: &Problem| {
                format!("{problem:?}").split(", warnings: ").next().map(String::from)
            };
            assert_eq!(without_warnings(&whole.problem), without_warnings(&again));
            assert_eq!(whole.domain.rows(), again.row_count());
            // The same domain from the values and their counts alone.
            let values = |name: &String| {
                let coded = table.coded(name);
                let mut counts = vec![0; coded.values().len()];
                let of_rows = roles.count.as_ref().map(|name| table.coded(name));
                for (row, code) in coded.codes().iter().enumerate() {
                    counts[code as usize] += of_rows.map_or(1, |counts| {
                        let text = &counts.values()[counts.codes().get(row) as usize];
                        text.as_ref().unwrap().parse::<u64>().unwrap()
                    });
                }
                let values = coded.values().iter().cloned().zip(counts).collect();
                ValueCounts { name: name.clone(), values, zone: None }
            };
            let columns: Vec<ValueCounts> =
                roles.quasi.iter().chain(&roles.sensitive).map(values).collect();
            assert_eq!(TableDomain::new(&columns, roles, request).unwrap(), whole.domain);
        }
    }
}

#[test]
fn a_value_that_the_whole_does_not_have_is_named_by_its_row_and_never_shown() {
    let text = "age,day,size,ill\n30,2024-01-02,low,flu\n40.0,2024-02-03,high,gout\n";
    let toml = "k = 1\n[columns]\nage = { role = 'quasi' }\nday = { role = 'quasi' }\n\
                size = { role = 'quasi', order = ['low', 'mid', 'high'] }\n\
                ill = { role = 'sensitive', l = 1 }";
    let whole = Whole::new(text, toml);
    let part = |line: &str| {
        let lines = ["30,2024-01-02,low,flu".to_string(), line.to_string()];
        whole.part(&lines).1.map_err(|error| error.to_string())
    };
    // Another spelling of the number is the same value.
    let problem = part("+40,2024-02-03,high,gout").unwrap();
    assert_eq!((problem.tuples(), problem.code(0, 1)), (2, 1));
    for (line, column) in [
        ("31,2024-01-02,low,flu", "age"),
        (",2024-01-02,low,flu", "age"),
        ("30,2024-01-03,low,flu", "day"),
        ("30,2024-01-02T00:00:00,low,flu", "day"),
        ("30,2024-01-02,mid,flu", "size"),
        ("30,2024-01-02,low,cold", "ill"),
    ] {
        assert_eq!(
            part(line).unwrap_err(),
            format!(
                "column `{column}`, data row 2: the domain of the whole table does not have the \
                 value; make the domain anew from all rows"
            ),
            "{line}"
        );
    }
}

#[test]
fn a_domain_of_another_request_is_refused() {
    let text = testing::random_table(1, 30);
    let whole = Whole::new(&text, &toml("l = 1", ""));
    let ordered = toml("t = 1, distance = 'ordered', order = ['cold', 'flu', 'gout']", "");
    let (roles, request) = testing::request(&whole.table, &ordered);
    let error = Problem::within(&whole.domain, &whole.table, &roles, &request).unwrap_err();
    assert!(error.to_string().starts_with("the domain was made for another request"), "{error}");
    let fewer = "k = 2\nrest = 'drop'\ncolumns.city.role = 'quasi'";
    let (roles, request) = testing::request(&whole.table, fewer);
    let of_city = TableDomain::of(&whole.table, &roles, &request).unwrap();
    let (table, roles, request) = (&whole.table, &whole.roles, &whole.request);
    assert!(Problem::within(&of_city, table, roles, request).is_err());
    let none = TableDomain::new(&[], roles, request).unwrap_err();
    assert_eq!(none.to_string(), "the domain of a table needs the values of column `age`");
}

/// Domains with every kind of column.
fn domains() -> Vec<Whole> {
    let mut all: Vec<Whole> = (0..)
        .zip(RULES)
        .map(|(seed, (keys, top))| Whole::new(&testing::random_table(seed, 40), &toml(keys, top)))
        .collect();
    let text = "a,b,c,d,e,s\n0.1,2024-01-02,021,low,,5\n1e-7,2023-05-06,022,high,x,7\n\
                -3.3e300,2020-02-29,111,low,y,5\n";
    let toml = "k = 1\n[columns]\na = { role = 'quasi' }\n\
                b = { role = 'quasi', hierarchy = { date = ['month', 'year'] } }\n\
                c = { role = 'quasi', hierarchy = { prefix = [2, 1] } }\n\
                d = { role = 'quasi', order = ['low', 'mid', 'high'] }\n\
                e = { role = 'quasi', scheme = 'sps' }\n\
                s = { role = 'sensitive', t = 1, distance = 'ordered' }";
    all.push(Whole::new(text, toml));
    let times =
        "a\n2024-01-01T00:00:00.5+02:00\n2024-01-02T00:00:00+02:00\n2024-01-03T10:00:00+02:00\n";
    all.push(Whole::new(times, "k = 1\ncolumns.a.role = 'quasi'"));
    all.push(Whole::new(
        "a,b\n,1\n,2\n",
        "k = 1\n[columns]\na = { role = 'quasi', kind = 'numeric', \
                         hierarchy = { intervals = [5] } }\nb = { role = 'quasi' }",
    ));
    all
}

#[test]
fn a_stored_domain_is_the_same_domain() {
    for whole in domains() {
        let text = serde_json::to_string(&whole.domain).unwrap();
        let read: TableDomain = serde_json::from_str(&text).unwrap();
        assert_eq!(read, whole.domain);
        assert_eq!(serde_json::to_string(&read).unwrap(), text, "the same bytes");
        let toml = toml::to_string(&whole.domain).unwrap();
        assert_eq!(toml::from_str::<TableDomain>(&toml).unwrap(), whole.domain);
    }
}

/// Changes one place of a JSON value: a number, a text, a list, or a key.
fn damage(value: &mut serde_json::Value, rng: &mut Rng) {
    use serde_json::Value;
    match value {
        Value::Object(map) if rng.below(6) > 0 && !map.is_empty() => {
            let at = rng.place(map.len());
            damage(map.values_mut().nth(at).unwrap(), rng);
        }
        Value::Array(list) if rng.below(4) > 0 && !list.is_empty() => {
            let at = rng.place(list.len());
            damage(&mut list[at], rng);
        }
        Value::Object(map) => {
            let key = map.keys().nth(rng.place(map.len().max(1))).cloned();
            key.and_then(|key| map.remove(&key));
        }
        Value::Array(list) => match (list.len(), rng.below(3)) {
            (1.., 0) => drop(list.pop()),
            (1.., 1) => list.reverse(),
            (1.., _) => list.push(list[0].clone()),
            (0, _) => list.push(Value::Null),
        },
        Value::Number(_) => *value = [0, 1, 2, 7, u32::MAX, 1 << 20][rng.place(6)].into(),
        Value::String(_) => {
            *value = ["", "x", "-1", "inf", "1e999", "NaN", "3", "*"][rng.place(8)].into();
        }
        Value::Bool(is) => *is = !*is,
        Value::Null => *value = "x".into(),
    }
}

#[test]
fn a_damaged_domain_is_an_error_and_never_a_panic() {
    let mut rng = Rng::new(9);
    let (mut refused, mut solved) = (0, 0);
    for whole in domains() {
        for _ in 0..150 {
            let mut value = serde_json::to_value(&whole.domain).unwrap();
            (0..1 + rng.below(2)).for_each(|_| damage(&mut value, &mut rng));
            let Ok(domain) = serde_json::from_value::<TableDomain>(value) else {
                refused += 1;
                continue;
            };
            let (table, roles, request) = (&whole.table, &whole.roles, &whole.request);
            let numbering = Numbering::Sorted;
            if let Ok(problem) = Problem::numbered_within(&domain, table, roles, request, numbering)
            {
                let found = solve(&problem, options(Algorithm::Mondrian), &Budget::unlimited());
                let recoding = &found.recoding;
                let (key, format) = (Key::from_seed(1), CellFormat::Text);
                if let Ok(release) =
                    Release::new(&problem, recoding, table, roles, request, key, format)
                {
                    (0..release.batches()).for_each(|at| drop(release.batch(at)));
                }
                solved += 1;
            }
        }
    }
    assert!(refused > 700 && solved > 100, "{refused} and {solved}");
}
