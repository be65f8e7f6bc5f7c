//! Persons with several rows: every class of every algorithm, counted again from the rows of the
//! table with plain maps.

use std::collections::{BTreeMap, BTreeSet};

use lookalike::release::deal;
use lookalike::request::Persons;
use lookalike::rng::{Key, Rng};
use lookalike::{
    Algorithm, Budget, ErrorKind, Problem, Request, SearchOptions, anonymize, problem, solve, table,
};

/// One row of a made-up table.
#[derive(Clone, Debug)]
struct Visit {
    person: u64,
    age: u64,
    city: u64,
    illness: usize,
    count: u64,
}

const ILLNESSES: [&str; 5] = ["cold", "flu", "gout", "hiv", "mumps"];

/// Persons with one to six rows, in random order; some of them age and move.
fn visits(rng: &mut Rng, changes: bool) -> Vec<Visit> {
    let mut all = Vec::new();
    for person in 0..4 + rng.below(20) {
        let (mut age, mut city) = (20 + rng.below(12), rng.below(3));
        let habit = rng.place(ILLNESSES.len());
        for _ in 0..1 + rng.below(6) {
            if changes && rng.below(6) == 0 {
                (age, city) = (age + rng.below(3), (city + rng.below(2)) % 3);
            }
            let illness = if rng.below(2) == 0 { habit } else { rng.place(ILLNESSES.len()) };
            all.push(Visit { person, age, city, illness, count: 1 + rng.below(3) });
        }
    }
    rng.shuffle(&mut all);
    all
}

fn csv(visits: &[Visit]) -> String {
    let row = |visit: &Visit| {
        let Visit { person, age, city, illness, count } = visit;
        let illness = ILLNESSES[*illness];
        format!("P{person},{},{age},{city},{illness},{count}\n", person % 2)
    };
    let rows: String = visits.iter().map(row).collect();
    format!("id,site,age,city,illness,n\n{rows}")
}

/// A rule, and the same rule on the shares of values in a class.
type PlainRule = (&'static str, fn(&Shares, &Shares) -> bool);

/// The persons or weights of a class: all of them, those with each value, those with one of two
/// named values, and the distribution of values.
#[derive(Debug, Default)]
struct Shares {
    all: f64,
    with: BTreeMap<usize, f64>,
    with_named: f64,
    distribution: BTreeMap<usize, f64>,
}

impl Shares {
    fn descending(&self) -> Vec<f64> {
        let mut counts: Vec<f64> = self.with.values().copied().collect();
        counts.sort_by(|a, b| b.total_cmp(a));
        counts
    }

    /// What the most frequent values leave.
    fn tail(&self, head: usize) -> f64 {
        self.all - self.descending().iter().take(head).sum::<f64>()
    }

    fn part(&self, value: usize) -> f64 {
        let sum: f64 = self.distribution.values().sum();
        self.distribution.get(&value).copied().unwrap_or(0.0) / sum
    }
}

const SLACK: f64 = 1e-9;

const RULES: [PlainRule; 9] = [
    ("", |_, _| true),
    (", alpha = 0.7", |class, _| class.descending()[0] <= 0.7 * class.all + SLACK),
    (", alpha = 0.6, values = ['hiv', 'mumps']", |class, _| {
        class.with_named <= 0.6 * class.all + SLACK
    }),
    (", l = 2", |class, _| class.descending()[0] * 2.0 <= class.all + SLACK),
    (", distinct = 2", |class, _| class.tail(1) > SLACK),
    (", distinct = 3", |class, _| class.tail(2) > SLACK),
    (", recursive = { c = 3, l = 2 }", |class, _| {
        class.descending()[0] < 3.0 * class.tail(1) - SLACK
    }),
    (", entropy = 1.9", |class, _| {
        let entropy = |value: usize| match class.part(value) {
            0.0 => 0.0,
            part => -part * part.ln(),
        };
        (0..ILLNESSES.len()).map(entropy).sum::<f64>() >= 1.9_f64.ln() - SLACK
    }),
    (", t = 0.4", |class, whole| {
        let apart = |value: usize| (class.part(value) - whole.part(value)).abs();
        (0..ILLNESSES.len()).map(apart).sum::<f64>() / 2.0 <= 0.4 + SLACK
    }),
];

/// Rows of the table with the number of each that is meant.
type Rows<'a> = Vec<(&'a Visit, u64)>;

/// The least common multiple of 1 to 16.
const WEIGHT: u64 = 720_720;

#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn shares(rows: &Rows, reading: Persons, all: &Rows) -> Shares {
    let mut shares = Shares::default();
    match reading {
        Persons::Whole => {
            let mut values: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
            rows.iter().for_each(|(visit, _)| {
                values.entry(visit.person).or_default().insert(visit.illness);
            });
            shares.all = values.len() as f64;
            for own in values.values() {
                own.iter().for_each(|&value| *shares.with.entry(value).or_default() += 1.0);
                shares.with_named += f64::from(u8::from(own.iter().any(|&value| value >= 3)));
                let part = (WEIGHT / own.len() as u64) as f64;
                let of_person = own.iter().copied();
                of_person.for_each(|value| *shares.distribution.entry(value).or_default() += part);
            }
        }
        Persons::Rows => {
            for (visit, count) in rows {
                let own = all.iter().filter(|(other, _)| other.person == visit.person);
                let weight = WEIGHT / own.map(|(_, count)| count).sum::<u64>() * count;
                shares.all += weight as f64;
                *shares.with.entry(visit.illness).or_default() += weight as f64;
                shares.with_named += if visit.illness >= 3 { weight as f64 } else { 0.0 };
            }
            shares.distribution = shares.with.clone();
        }
    }
    shares
}

fn persons(rows: &Rows) -> usize {
    rows.iter().map(|(visit, _)| visit.person).collect::<BTreeSet<_>>().len()
}

/// How often each thing was tried.
#[derive(Debug, Default)]
struct Tried {
    releases: u64,
    infeasible: u64,
    split: u64,
    changing: u64,
    suppressed: u64,
}

#[test]
fn every_class_satisfies_the_rules_by_a_count_of_its_own() {
    let mut rng = Rng::new(18);
    let mut tried = Tried::default();
    for turn in 0..700 {
        let is_changing = turn % 2 == 1;
        let visits = visits(&mut rng, is_changing);
        let is_counted = turn % 4 == 1;
        let (rule, holds) = RULES[rng.place(RULES.len())];
        let k = 2 + rng.below(4);
        let mut toml = format!("k = {k}\nrest = 'drop'\nseed = {turn}\n");
        toml += ["", "persons = 'whole'\n", "persons = 'rows'\n"][turn % 3];
        toml += if is_counted { "count = 'n'\n" } else { "" };
        let has_subset = rng.below(5) == 0;
        toml += if has_subset { "rules = [{ k = 6, columns = ['city'] }]\n" } else { "" };
        let suppress = rng.below(2) == 0 && !rule.contains("t =");
        toml += if suppress { "limits.suppress = '20%'\n" } else { "" };
        toml += "[columns]\nid.role = 'person'\n";
        toml += if turn % 5 == 0 { "site.role = 'person'\n" } else { "" };
        toml += "age.role = 'quasi'\ncity = { role = 'quasi', kind = 'categorical' }\n";
        toml += &format!("illness = {{ role = 'sensitive'{rule} }}\n");
        let request = Request::parse(&toml).unwrap();
        let source = table::open_text(csv(&visits), "visits.csv".as_ref()).unwrap();
        let roles = request.roles(source.names()).unwrap();
        let treatments = problem::treatments(source.names(), &roles);
        let table = source.read(&treatments).unwrap();
        let count = |visit: &Visit| if is_counted { visit.count } else { 1 };
        let all: Rows = visits.iter().map(|visit| (visit, count(visit))).collect();
        let solved = match Problem::new(&table, &roles, &request) {
            Ok(problem) => problem,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Infeasible, "{error} {toml}");
                let reading = request.persons.unwrap_or(Persons::Whole);
                let whole = shares(&all, reading, &all);
                let is_met = persons(&all) as u64 >= k.max(if has_subset { 6 } else { 0 })
                    && holds(&whole, &whole);
                let is_sure = request.persons.is_some();
                assert!(!is_sure || !is_met, "{error}\n{toml}{}", csv(&visits));
                tried.infeasible += 1;
                continue;
            }
        };
        let units = solved.persons().unwrap();
        tried.changing += u64::from(solved.has_changing_persons());
        for algorithm in Algorithm::homogeneous() {
            if algorithm.is_global() && (solved.has_changing_persons() || has_subset) {
                continue;
            }
            let options =
                SearchOptions { steps: Some(60), ..SearchOptions::new(algorithm, turn as u64) };
            let found = solve(&solved, options, &Budget::unlimited());
            let key = Key::from_seed(turn as u64);
            let dealt = deal(&solved, &found.recoding, &table, &roles, key).unwrap();
            let mut classes: BTreeMap<u32, Rows> = BTreeMap::new();
            let mut fates: BTreeMap<u64, BTreeSet<Option<u32>>> = BTreeMap::new();
            let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
            let mut suppressed: Rows = Vec::new();
            for piece in dealt {
                let visit = &visits[piece.row as usize];
                fates.entry(visit.person).or_default().insert(piece.class);
                *sums.entry(piece.row).or_default() += u64::from(piece.count);
                match piece.class {
                    Some(class) => {
                        classes.entry(class).or_default().push((visit, u64::from(piece.count)));
                    }
                    None => suppressed.push((visit, u64::from(piece.count))),
                }
            }
            let about = || format!("{algorithm} {toml}{}", csv(&visits));
            assert_eq!(sums.len(), visits.len(), "{}", about());
            assert!((0u32..).zip(&all).all(|(row, (_, count))| sums[&row] == *count));
            tried.split += u64::from(fates.values().any(|own| own.len() > 1));
            tried.suppressed += u64::from(!suppressed.is_empty());
            match units.reading {
                Persons::Whole => {
                    assert!(fates.values().all(|own| own.len() == 1), "{}", about());
                    assert!(persons(&suppressed) * 5 <= persons(&all), "{}", about());
                }
                Persons::Rows => {
                    let sum = |rows: &Rows| rows.iter().map(|(_, count)| count).sum::<u64>();
                    assert!(sum(&suppressed) * 5 <= sum(&all), "{}", about());
                }
            }
            let whole = shares(&all, units.reading, &all);
            let mut by_city: BTreeMap<String, Rows> = BTreeMap::new();
            for (class, rows) in &classes {
                assert!(persons(rows) as u64 >= k, "{}", about());
                let own = shares(rows, units.reading, &all);
                assert!(holds(&own, &whole), "{own:?} {}", about());
                let ranges = found.recoding.ranges(*class as usize);
                let city = solved.attributes().iter().position(|own| own.name == "city").unwrap();
                by_city.entry(format!("{:?}", ranges[city])).or_default().extend(rows.iter());
            }
            if has_subset {
                assert!(by_city.values().all(|rows| persons(rows) >= 6), "{}", about());
            }
            tried.releases += 1;
        }
    }
    let Tried { releases, infeasible, split, changing, suppressed } = tried;
    assert!(releases > 3_000 && infeasible > 50, "{tried:?}");
    assert!(split > 300 && changing > 30 && suppressed > 100, "{tried:?}");
}

/// What a made-up request asks for.
fn asked(rng: &mut Rng, turn: u64) -> String {
    let pick = |rng: &mut Rng, all: &[&str]| all[rng.place(all.len())].to_string();
    let reading = pick(rng, &["", "persons = 'whole'\n", "persons = 'rows'\n"]);
    let (rule, _) = RULES[rng.place(RULES.len())];
    let k = 2 + rng.below(3);
    let mut toml = format!("k = {k}\nrest = 'drop'\nseed = {turn}\n{reading}");
    let algorithm = pick(rng, &["auto", "mondrian", "cluster", "top-down", "bottom-up", "optimal"]);
    toml += &format!("algorithm = '{algorithm}'\n");
    toml += if algorithm == "auto" { "steps = 50\n" } else { "" };
    toml += &pick(rng, &["", "", "count = 'n'\n"]);
    toml += if rule.contains("t =") { "" } else { "limits.suppress = '10%'\n" };
    toml += &pick(rng, &["", "output.publish = 'set'\n", "output.publish = 'bounds'\n"]);
    let is_followed = rng.below(3) == 0 && !reading.contains("rows");
    toml += if is_followed { "output.pseudonyms = true\n" } else { "" };
    toml += "[columns]\nid.role = 'person'\n";
    toml += &pick(rng, &["", "site.role = 'person'\n"]);
    toml += "age.role = 'quasi'\ncity = { role = 'quasi', kind = 'categorical' }\n";
    toml += &format!("illness = {{ role = 'sensitive'{rule} }}\n");
    toml
}

#[test]
fn the_audit_accepts_every_run_and_the_order_of_the_rows_has_no_influence() {
    let mut rng = Rng::new(81);
    let (mut made, mut refused) = (0, 0);
    for turn in 0..400 {
        let mut visits = visits(&mut rng, turn % 2 == 0);
        let toml = asked(&mut rng, turn);
        let request = Request::parse(&toml).unwrap();
        let run = |visits: &[Visit]| {
            let source = table::open_text(csv(visits), "visits.csv".as_ref()).unwrap();
            anonymize(source, &request)
        };
        let first = run(&visits);
        rng.shuffle(&mut visits);
        match (first, run(&visits)) {
            (Ok(one), Ok(other)) => {
                assert_eq!(one.batches, other.batches, "{toml}{}", csv(&visits));
                let persons = one.report.verdict.persons.expect("persons are counted");
                assert!(persons.released > 0);
                assert!(one.report.verdict.measures.k >= request.k.unwrap());
                made += 1;
            }
            (Err(one), Err(other)) => {
                let is_expected =
                    one.kind() == ErrorKind::Infeasible || one.code() == "changing-persons";
                assert!(is_expected, "{one}\n{toml}{}", csv(&visits));
                assert_eq!(one.to_string(), other.to_string());
                refused += 1;
            }
            (one, other) => panic!("{one:?} {other:?}\n{toml}"),
        }
    }
    assert!(made > 200 && refused > 30, "{made} {refused}");
}
