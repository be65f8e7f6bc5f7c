//! Plans of random tables of counts, true ones and ones with every fault.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use arrow_schema::DataType;

use super::super::{
    Finding, Method, SourceCheck, WholeDistribution, audit, audit_plan, audit_plan_of_part,
    plan_treatments, unguard,
};
use super::mutations::{NAMES, QUASI, TestRows, asked, shown, source};
use super::{Request, Seeded, request, table, table_of};
use crate::table::{Column, Treatment};

/// A piece: its tuple, its rows, and what is published for them; none when it is suppressed.
#[derive(Clone, Debug)]
struct Piece {
    tuple: Vec<String>,
    first: u32,
    last: u32,
    cells: Option<Vec<String>>,
    /// Spelt `true` although cells are published, when a fault is planted.
    is_suppressed: bool,
}

/// Distinct tuples with counts.
fn counts(seeded: &mut Seeded, rows: usize) -> Vec<(Vec<String>, u32)> {
    let mut tuples = source(seeded, rows);
    // Missing is one value, however it is spelt.
    tuples.iter_mut().flatten().filter(|cell| *cell == "?").for_each(String::clear);
    tuples.sort();
    tuples.dedup();
    let count = |seeded: &mut Seeded| 1 + u32::try_from(seeded.below(5)).unwrap();
    tuples.into_iter().map(|tuple| (tuple, count(seeded))).collect()
}

/// Each tuple cut at random; pieces in classes of two or three, a few suppressed.
fn plan(seeded: &mut Seeded, counts: &[(Vec<String>, u32)], suppress: bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (tuple, count) in counts {
        let mut first = 1;
        while first <= *count {
            let last = first + u32::try_from(seeded.below((count - first + 1) as usize)).unwrap();
            let (cells, is_suppressed) = (None, false);
            pieces.push(Piece { tuple: tuple.clone(), first, last, cells, is_suppressed });
            first = last + 1;
        }
    }
    for at in (1..pieces.len()).rev() {
        pieces.swap(at, seeded.below(at + 1));
    }
    let mut rest = &mut pieces[..];
    if suppress {
        rest[0].is_suppressed = true;
        rest = &mut rest[1..];
    }
    while !rest.is_empty() {
        let size = if rest.len() < 4 { rest.len() } else { 2 + seeded.below(2) };
        let (class, after) = rest.split_at_mut(size);
        let tuples: TestRows = class.iter().map(|piece| piece.tuple.clone()).collect();
        let cells = shown(&tuples, seeded.below(4) == 0);
        class.iter_mut().for_each(|piece| piece.cells = Some(cells.clone()));
        rest = after;
    }
    pieces
}

fn table_of_counts(counts: &[(Vec<String>, u32)]) -> crate::table::Table {
    let names: Vec<String> = NAMES.iter().copied().chain(["n"]).map(String::from).collect();
    let rows = counts
        .iter()
        .map(|(tuple, count)| tuple.iter().cloned().chain([count.to_string()]).collect());
    table_of(&std::iter::once(names).chain(rows).collect::<Vec<_>>())
}

fn table_of_plan(pieces: &[Piece]) -> crate::table::Table {
    let published = NAMES[..QUASI].iter().map(|name| format!("published_{name}"));
    let special = ["first_row", "last_row", "suppressed"].map(String::from);
    let names = NAMES.map(String::from).into_iter().chain(published).chain(special).collect();
    let row = |piece: &Piece| {
        let cells = piece.cells.clone().unwrap_or_else(|| vec![String::new(); QUASI]);
        let ends = [piece.first.to_string(), piece.last.to_string()];
        let suppressed = [piece.is_suppressed.to_string()];
        piece.tuple.iter().cloned().chain(cells).chain(ends).chain(suppressed).collect()
    };
    table_of(&std::iter::once(names).chain(pieces.iter().map(row)).collect::<Vec<_>>())
}

/// The same plan, with the tuples by their numbers.
fn numbered(pieces: &[Piece], counts: &[(Vec<String>, u32)]) -> crate::table::Table {
    let by_cells = table_of_plan(pieces);
    let number = |piece: &Piece| {
        let row = counts.iter().position(|(tuple, _)| *tuple == piece.tuple);
        Some(row.map_or(0, |row| row as i64 + 1))
    };
    let numbers: ArrayRef = Arc::new(pieces.iter().map(number).collect::<Int64Array>());
    let tuple = Column {
        name: "tuple".to_string(),
        data_type: DataType::Int64,
        coded: None,
        passthrough: Some(vec![numbers]),
    };
    let others = by_cells.columns().iter().filter(|column| !NAMES.contains(&&*column.name));
    let columns = std::iter::once(tuple).chain(others.cloned()).collect();
    crate::table::Table::new(columns, pieces.len())
}

/// The published rows written out.
fn written_out(pieces: &[Piece]) -> crate::table::Table {
    let names: Vec<String> = NAMES.map(String::from).to_vec();
    let rows = pieces.iter().filter(|piece| !piece.is_suppressed).flat_map(|piece| {
        let cells = piece.cells.as_ref().unwrap();
        let row: Vec<String> = cells.iter().chain(&piece.tuple[QUASI..]).cloned().collect();
        std::iter::repeat_n(row, (piece.last - piece.first + 1) as usize)
    });
    table_of(&std::iter::once(names).chain(rows).collect::<Vec<_>>())
}

fn requests(folder: &std::path::Path) -> (Request, Request) {
    let plain = asked(folder, "[limits]\nsuppress = \"40%\"");
    let with = Request { count: Some("n".to_string()), ..plain.clone() };
    (plain, with)
}

#[test]
fn true_plans_hold_and_their_rules_are_those_of_the_rows_written_out() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, with) = requests(folder.path());
    let mut seeded = Seeded(61);
    let (mut held, mut broken) = (0, 0);
    for round in 0..600 {
        let rows = 3 + seeded.below(6);
        let counts = counts(&mut seeded, rows);
        let pieces = plan(&mut seeded, &counts, round % 2 == 0);
        if pieces.len() < 2 {
            continue;
        }
        let verdict =
            audit_plan(&table_of_plan(&pieces), &table_of_counts(&counts), &with).unwrap();
        let by_number =
            audit_plan(&numbered(&pieces, &counts), &table_of_counts(&counts), &with).unwrap();
        assert_eq!(format!("{verdict:?}"), format!("{by_number:?}"));
        let single = audit(&written_out(&pieces), &plain).unwrap();
        assert_eq!(verdict.rules.len(), single.rules.len());
        for (a, b) in verdict.rules.iter().zip(&single.rules) {
            assert_eq!((&a.rule, a.violations, a.rows), (&b.rule, b.violations, b.rows));
            assert!((a.worst - b.worst).abs() < 1e-9);
        }
        assert_eq!(verdict.measures.rows, single.measures.rows);
        assert_eq!(verdict.measures.histogram, single.measures.histogram);
        let truth = verdict.truth.as_ref().unwrap();
        assert_eq!(truth.cells_checked, Method::PieceByPiece);
        assert_eq!((truth.violations, truth.carried_unchanged), (0, true), "{truth:?}");
        assert_eq!(truth.rows_matched, single.measures.rows);
        let all: u64 = counts.iter().map(|(_, count)| u64::from(*count)).sum();
        assert_eq!(truth.suppressed, all - single.measures.rows);
        assert_eq!(truth.suppression_allowed, 5 * truth.suppressed <= 2 * all);
        held += usize::from(verdict.holds());
        broken += usize::from(verdict.rules.iter().any(|rule| rule.violations > 0));
    }
    assert!(held > 15 && broken > 60, "{held} {broken}");
}

const FAULTS: usize = 12;

/// Plants a fault; false where this plan has no place for it.
fn plant(
    kind: usize,
    seeded: &mut Seeded,
    pieces: &mut Vec<Piece>,
    counts: &mut Vec<(Vec<String>, u32)>,
) -> bool {
    let at = seeded.below(pieces.len());
    let tuple = seeded.below(counts.len());
    let is_missing = pieces[at].tuple[0].is_empty();
    let of_several = |piece: &Piece| piece.last > piece.first;
    match kind {
        // A tuple without a piece, without its first row, without its last, with one row too many.
        0 => drop(pieces.remove(at)),
        1 => pieces[at].first += 1,
        2 => pieces[at].last += 1,
        3 if of_several(&pieces[at]) => pieces[at].last -= 1,
        // Two pieces for one row, and the same piece twice.
        4 if of_several(&pieces[at]) => {
            let half = Piece { first: pieces[at].last, ..pieces[at].clone() };
            pieces.push(half);
        }
        5 => pieces.push(pieces[at].clone()),
        // A tuple that is not there, and one that is there twice.
        6 => pieces[at].tuple[5] = "9".to_string(),
        7 => counts.push(counts[tuple].clone()),
        8 => counts[tuple].1 += 1,
        // A cell that covers another value, or nothing.
        9 => match &mut pieces[at].cells {
            Some(cells) => cells[1] = "999".to_string(),
            None => return false,
        },
        10 => match &mut pieces[at].cells {
            Some(cells) if is_missing && cells[0] != "*" => cells[0] = "21".to_string(),
            Some(cells) if cells[0] != "*" => cells[0].clear(),
            _ => return false,
        },
        // A suppressed piece that is published all the same.
        11 if !pieces[at].is_suppressed && pieces.len() > 2 => pieces[at].is_suppressed = true,
        _ => return false,
    }
    true
}

#[test]
fn every_planted_fault_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (_, with) = requests(folder.path());
    let mut seeded = Seeded(62);
    let mut planted = [0; FAULTS];
    for round in 0..1800 {
        let kind = round % FAULTS;
        let rows = 4 + seeded.below(5);
        let mut counts = counts(&mut seeded, rows);
        let mut pieces = plan(&mut seeded, &counts, round % 2 == 0);
        if pieces.len() < 3 || !plant(kind, &mut seeded, &mut pieces, &mut counts) {
            continue;
        }
        for plan in [table_of_plan(&pieces), numbered(&pieces, &counts)] {
            let counts = table_of_counts(&counts);
            let truth = audit_plan(&plan, &counts, &with).unwrap().truth.unwrap();
            assert!(!truth.holds() && truth.violations > 0, "fault {kind}: {pieces:?} {truth:?}");
            assert!(truth.statements.iter().any(|said| said.finding == Finding::Broken));
        }
        planted[kind] += 1;
    }
    assert!(planted.iter().all(|&number| number > 20), "{planted:?}");
}

const ASKED: &str = "k = 2\ncount = 'n'\n[columns]\nage = { role = 'quasi' }\nill = { role = \
                     'sensitive', distinct = 2 }\nward = { role = 'keep' }\n";
const COUNTS: [&str; 4] = ["age|ill|ward|n", "34|flu|a|2", "37|hiv|a|1", "51|flu|b|1"];
const PLAN: [&str; 5] = [
    "age|ill|ward|published_age|published_ward|first_row|last_row|suppressed",
    "34|flu|a|[34-37]|a|1|1|false",
    "34|flu|a|[34-51]|a|2|2|false",
    "37|hiv|a|[34-37]|a|1|1|false",
    "51|flu|b|||1|1|true",
];

fn by_hand(plan: &[&str], text: &str) -> SourceCheck {
    let text = format!("{ASKED}{text}");
    audit_plan(&table(plan), &table(&COUNTS), &request(&text)).unwrap().truth.unwrap()
}

#[test]
fn suppression_and_passed_through_columns_are_checked() {
    let quarter = "[limits]\nsuppress = '25%'";
    let good = by_hand(&PLAN, quarter);
    assert!(good.holds() && good.suppressed == 1 && good.rows_matched == 3, "{good:?}");
    let strict = by_hand(&PLAN, "");
    assert!(!strict.suppression_allowed && strict.violations == 0);
    let with = |at: usize, row: &'static str| {
        let mut plan = PLAN;
        plan[at] = row;
        by_hand(&plan, quarter)
    };
    let changed = with(1, "34|flu|a|[34-37]|b|1|1|false");
    assert!(!changed.carried_unchanged && changed.violations == 1, "{changed:?}");
    assert_eq!(with(4, "51|flu|b|*||1|1|true").violations, 1);
    assert_eq!(with(4, "51|flu|b||b|1|1|true").violations, 1);
    // The rules: a class of one row, and one value in a class of two.
    let rules = |text: &str| {
        let request = request(&format!("{ASKED}{text}"));
        audit_plan(&table(&PLAN), &table(&COUNTS), &request).unwrap().rules
    };
    assert_eq!(rules(quarter)[0].violations, 1);
    assert_eq!(rules(quarter)[1].violations, 1);
}

#[test]
fn bounds_are_read_under_their_names() {
    let plan = [
        "age|ill|ward|published_age_min|published_age_max|first_row|last_row|suppressed",
        "34|flu|a|34|37|1|2|false",
        "37|hiv|a|34|37|1|1|false",
        "51|flu|b|51|51|1|1|false",
    ];
    assert_eq!(by_hand(&plan, "").violations, 0);
    let mut wrong = plan;
    wrong[2] = "37|hiv|a|34|36|1|1|false";
    assert_eq!(by_hand(&wrong, "").violations, 1);
}

#[test]
fn what_is_no_plan_is_refused() {
    let refused = |plan: &[&str], counts: &[&str], text: &str| {
        audit_plan(&table(plan), &table(counts), &request(text)).unwrap_err().to_string()
    };
    let with = |from: &str, to: &str| PLAN.map(|row| row.replace(from, to));
    let refs = |rows: &[String; 5]| rows.clone().map(|row| &*row.leak());
    let error = refused(&refs(&with("|1|1|true", "|1|1|perhaps")), &COUNTS, ASKED);
    assert!(
        error.contains("column `suppressed`, data row 4") && !error.contains("perhaps"),
        "{error}"
    );
    let error = refused(&refs(&with("|2|2|", "|0|2|")), &COUNTS, ASKED);
    assert!(error.contains("column `first_row`, data row 2"), "{error}");
    let error = refused(&refs(&with("published_age", "age_published")), &COUNTS, ASKED);
    assert!(error.contains("`age`"), "{error}");
    let error = refused(&refs(&with("ward|", "station|")), &COUNTS, ASKED);
    assert!(error.contains("lacks columns of the table of counts: `ward`"), "{error}");
    let named = ["age|ill|ward|suppressed|n", "34|flu|a|x|2"];
    assert!(refused(&PLAN, &named, ASKED).contains("which a plan uses for itself"));
    let error = refused(&PLAN, &COUNTS, &ASKED.replace("count = 'n'\n", ""));
    assert!(error.contains("a plan is of a table of counts"), "{error}");
}

#[test]
fn numbers_of_tuples_are_read_from_text_and_sensitive_cells_from_the_counts() {
    let request = request(&format!("{ASKED}[limits]\nsuppress = '25%'"));
    let plan = |rows: &str| {
        let text = format!("tuple,published_age,first_row,last_row,suppressed\n{rows}");
        let source = crate::table::open_text(text, "plan.csv".as_ref()).unwrap();
        source.read_for(|names| plan_treatments(names, &request)).unwrap()
    };
    let verdict = |rows: &str| audit_plan(&plan(rows), &table(&COUNTS), &request).unwrap();
    let good = verdict("1,[34-37],1,2,false\n2,[34-37],1,1,false\n3,,1,1,true\n");
    assert!(good.holds() && good.measures.rows == 3, "{good:?}");
    // One illness in the class of the first tuple alone.
    let rules = verdict("1,34,1,2,false\n2,37,1,1,false\n3,,1,1,true\n").rules;
    assert_eq!(rules[1].violations, 2, "{rules:?}");
    for wrong in ["0,34,1,2,false", "x,34,1,2,false", "4,34,1,2,false", "-1,34,1,2,false"] {
        let rows = format!("{wrong}\n1,34,1,2,false\n2,37,1,1,false\n3,,1,1,true\n");
        let truth = verdict(&rows).truth.unwrap();
        assert_eq!(truth.violations, 1, "{wrong}: {truth:?}");
    }
    let text = "tuple,published_age,first_row,last_row,suppressed\n1,34,1,2,false\n";
    let source = crate::table::open_text(text.into(), "plan.csv".as_ref()).unwrap();
    let mut columns = source.read_for(|names| plan_treatments(names, &request)).unwrap();
    let floats: ArrayRef = Arc::new(arrow_array::Float64Array::from(vec![1.0]));
    let with = |column: &Column| match &*column.name {
        "tuple" => Column { passthrough: Some(vec![floats.clone()]), ..column.clone() },
        _ => column.clone(),
    };
    columns = crate::table::Table::new(columns.columns().iter().map(with).collect(), 1);
    let error = audit_plan(&columns, &table(&COUNTS), &request).unwrap_err();
    assert_eq!(error.code(), "not-a-plan");
}

#[test]
fn names_and_cells_may_be_guarded() {
    let request = request("k = 2\ncount = 'n'\n[columns]\n\"=a\" = { role = 'quasi' }");
    let names = ["'=a", "other", "published_=a", "first_row", "last_row", "suppressed", "n"];
    let treatments = plan_treatments(&names.map(String::from), &request);
    use Treatment::{Code, Compare};
    assert_eq!(treatments, [Code, Compare, Code, Code, Code, Code, Code]);
    let mut plan = table(&[
        "'=a|published_=a|first_row|last_row|suppressed",
        "'=x|'=x|1|2|false",
        "y|y|1|2|false",
    ]);
    unguard(&mut plan);
    let verdict = audit_plan(&plan, &table(&["=a|n", "=x|2", "y|2"]), &request).unwrap();
    assert!(verdict.holds(), "{verdict:?}");
}

#[test]
fn the_plan_of_a_part_is_as_close_as_its_distance_to_the_whole() {
    let request = request(
        "k = 2\ncount = 'n'\n[columns]\nage = { role = 'quasi' }\n\
         ill = { role = 'sensitive', kind = 'numeric', t = 0.25, distance = 'ordered' }",
    );
    let read =
        |text: &str| table(&text.lines().map(|line| line.replace(',', "|")).collect::<Vec<_>>());
    // One class of 1 and 2, half and half.
    let counts = read("age,ill,n\n30,1,2\n31,2.0,2\n");
    let plan = "age,ill,published_age,first_row,last_row,suppressed\n\
                30,1,[30-31],1,2,false\n31,2.0,[30-31],1,2,false\n";
    let holds = |values: &[(Option<&str>, u64)]| {
        let values = values.iter().map(|&(text, rows)| (text.map(String::from), rows)).collect();
        let whole = [WholeDistribution { column: "ill".into(), values }];
        audit_plan_of_part(&read(plan), &counts, &request, &whole).unwrap().holds()
    };
    assert!(audit_plan(&read(plan), &counts, &request).unwrap().holds(), "itself is its whole");
    assert!(holds(&[(Some("1.0"), 50), (Some("2"), 50)]));
    // A quarter has to go from one end to the other: the greatest distance that holds.
    assert!(holds(&[(Some("1"), 75), (Some("2"), 25)]));
    assert!(!holds(&[(Some("1"), 76), (Some("2"), 24)]));
    // Values that only the whole has: the half of the rows with 3 is one of two steps away.
    assert!(holds(&[(Some("1"), 25), (Some("2"), 50), (Some("3"), 25)]));
    assert!(!holds(&[(Some("1"), 0), (Some("2"), 50), (Some("3"), 50)]));
    assert!(!holds(&[(Some("1"), 10), (Some("2"), 10), (None, 80)]), "missing is a value");
}
