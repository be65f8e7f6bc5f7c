//! The placement by an index against the flow over all pairs, on boxes that overlap in every way.

use super::super::source_check::{self, CheckLimits, LIMITS};
use super::{Request, Seeded, audit_against, request, table, table_of};

const BY_PAIRS: CheckLimits = CheckLimits { pairs: u64::MAX, ..LIMITS };
const BY_INDEX: CheckLimits = CheckLimits { pairs: 0, ..LIMITS };

const COLOURS: [&str; 6] = ["red", "green", "blue", "grey", "pink", "teal"];

/// Numbers, numbers with missing values, colours, codes with a prefix.
fn original(seeded: &mut Seeded, wide: usize) -> Vec<String> {
    let b = if seeded.below(8) == 0 { String::new() } else { seeded.below(4).to_string() };
    vec![
        seeded.below(wide).to_string(),
        b,
        COLOURS[seeded.below(6)].to_string(),
        format!("x{}{}", seeded.below(3), seeded.below(3)),
        seeded.below(2).to_string(),
    ]
}

/// Cells that cover the row, and nearly always more.
fn released(seeded: &mut Seeded, row: &[String], wide: usize) -> Vec<String> {
    let a: usize = row[0].parse().unwrap();
    let (lo, hi) = (a - seeded.below(a.min(6) + 1), (a + seeded.below(6)).min(wide));
    let b = match row[1].parse::<usize>() {
        Ok(b) if seeded.below(3) > 0 => format!("[{}-{}]", b.saturating_sub(1), b + 1),
        Ok(_) => "*".to_string(),
        Err(_) => String::new(),
    };
    let other = COLOURS[seeded.below(6)];
    let colour = match seeded.below(3) {
        0 => "*".to_string(),
        1 => row[2].clone(),
        _ => format!("{{{}, {other}}}", row[2]),
    };
    let kept = 1 + seeded.below(3);
    let code = format!("{}{}", &row[3][..kept], "*".repeat(3 - kept));
    vec![format!("[{lo}-{hi}]"), b, colour, code, row[4].clone()]
}

fn asked(last: &str, extra: &str) -> Request {
    request(&format!(
        "k = 1\n{extra}\n[columns]\na = {{ role = 'quasi' }}\nb = {{ role = 'quasi' }}\nc = {{ \
         role = 'quasi' }}\nd = {{ role = 'quasi', hierarchy = {{ prefix = [2, 1] }} }}\ne = {{ \
         role = '{last}' }}"
    ))
}

fn named(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    let names = ["a", "b", "c", "d", "e"].map(String::from).to_vec();
    std::iter::once(names).chain(rows.iter().cloned()).collect()
}

#[test]
fn it_places_as_many_rows_as_the_flow_over_all_pairs() {
    let mut seeded = Seeded(88);
    let (mut held, mut short, mut chained) = (0, 0, 0);
    for round in 0..900 {
        let (rows, wide) = (2 + seeded.below(150), 2 + seeded.below(30));
        let originals: Vec<Vec<String>> = (0..rows).map(|_| original(&mut seeded, wide)).collect();
        let mut release: Vec<Vec<String>> =
            originals.iter().map(|row| released(&mut seeded, row, wide)).collect();
        // Half of the releases are untrue in a few rows; a third lack some.
        if round % 2 == 0 {
            for _ in 0..=seeded.below(4) {
                let at = seeded.below(rows);
                let a = seeded.below(wide);
                release[at][0] = format!("[{a}-{}]", a + seeded.below(2));
            }
        }
        let mut extra = "";
        if round % 3 == 0 {
            release.truncate(rows - rows / 10);
            extra = "limits.suppress = '10%'";
        }
        let request = asked(["keep", "quasi"][round / 2 % 2], extra);
        let (release, source) = (table_of(&named(&release)), table_of(&named(&originals)));
        let check = |limits| source_check::check(&release, &source, &request, limits).unwrap();
        let (pairs, index) = (check(BY_PAIRS), check(BY_INDEX));
        assert_eq!(pairs.violations, index.violations);
        assert_eq!(pairs.rows_matched, index.rows_matched);
        assert_eq!(pairs.statements, index.statements);
        assert_eq!(index.rows_undecided, 0);
        if round % 2 == 1 {
            assert!(index.holds(), "{index:?}");
        }
        held += usize::from(index.holds());
        short += usize::from(index.violations > 0);
        // Steps that suffice to ask for each box once, and for no chain.
        let once = CheckLimits { steps: 400 * rows as u64, steps_per_row: 0, ..BY_INDEX };
        chained += usize::from(check(once).rows_undecided > 0);
    }
    assert!(held > 400 && short > 200, "{held} {short} {chained}");
}

#[test]
fn a_long_chain_of_boxes_moves_on() {
    // Box i covers i and i + 1, and comes before the box that covers 0 alone: every box must move
    // on by one.
    let rows = 3000;
    let mut source = vec!["a".to_string()];
    let mut release = source.clone();
    for at in 0..rows {
        source.push(at.to_string());
        release.push(format!("[{at}-{}]", at + 1));
    }
    source.push(rows.to_string());
    release.push("[0-0]".to_string());
    let request = request("k = 1\ncolumns.a.role = 'quasi'");
    let truth = source_check::check(&table(&release), &table(&source), &request, BY_INDEX).unwrap();
    assert!(truth.holds() && truth.rows_matched == rows as u64 + 1, "{truth:?}");
    // One more row on the same places than there are.
    release[1] = "[0-0]".to_string();
    let truth = source_check::check(&table(&release), &table(&source), &request, BY_INDEX).unwrap();
    assert_eq!((truth.violations, truth.rows_matched), (1, rows as u64));
}

#[test]
fn large_groups_are_decided_whatever_their_number_of_pairs() {
    // Forty thousand rows without any other column: 1.6 billion pairs, overlapping boxes.
    let mut seeded = Seeded(6);
    let originals: Vec<Vec<String>> = (0..40_000).map(|_| original(&mut seeded, 500)).collect();
    let mut release: Vec<Vec<String>> =
        originals.iter().map(|row| released(&mut seeded, row, 500)).collect();
    let request = asked("quasi", "");
    let source = table_of(&named(&originals));
    let truth = audit_against(&table_of(&named(&release)), &source, &request).unwrap().truth;
    let truth = truth.unwrap();
    assert!(truth.holds() && truth.rows_matched == 40_000 && truth.rows_undecided == 0);
    // A single row that nobody was.
    release[77][0] = "[900-901]".to_string();
    let truth = audit_against(&table_of(&named(&release)), &source, &request).unwrap().truth;
    assert_eq!(truth.unwrap().violations, 1);
}
