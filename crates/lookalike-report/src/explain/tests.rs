//! Figures by hand, and laws on other tables.

use std::path::{Path, PathBuf};

use lookalike::request::Input;
use lookalike::table::{self, Source};

use super::*;

fn source(text: &str) -> Source {
    table::open_text(text.to_string(), Path::new("table")).unwrap()
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-12
}

#[test]
fn the_figures_of_four_rows_are_those_by_hand() {
    // Both rows of 0 publish all; those of 10 publish `*` in place of b and c.
    let text = "x,s\n0,a\n0,a\n10,b\n10,c\n";
    let request = Request::new(2).quasi_identifiers(["x", "s"]);
    let found = explain(source(text), &request, &Cancel::default()).unwrap();
    assert!(near(found.loss, 0.25) && near(found.unique, 0.5) && found.is_complete);
    let [s, x] = &found.columns[..] else { panic!("two columns") };
    assert_eq!((&s.name[..], &x.name[..]), ("s", "x"), "the one that costs most first");
    assert!(near(s.loss, 0.5) && near(s.part, 1.0) && near(s.others, 0.0));
    assert!(near(x.loss, 0.0) && near(x.part, 0.0) && near(x.others, 0.5));
    assert_eq!((s.others_without, x.others_without), (Some(0.0), Some(0.5)));
    assert!(near(s.unique_alone, 0.5) && near(s.unique_without, 0.0));
    assert!(near(x.unique_alone, 0.0) && near(x.unique_without, 0.5));
    assert_eq!(found.costly, CostlyRows { rows: 1, share: 0.25 });
    assert_eq!((found.smaller_k, found.suppression), (None, None));
}

#[test]
fn a_column_left_out_and_a_coarser_one_free_the_others() {
    // A class of two is either near in x or equal in s: without s nothing is lost on x.
    let text = "x,s\n0,a\n0,b\n50,a\n50,b\n100,c\n100,d\n";
    let request = Request::new(2).quasi_identifiers(["x", "s"]);
    let found = explain(source(text), &request, &Cancel::default()).unwrap();
    let s = found.columns.iter().find(|column| column.name == "s").unwrap();
    assert_eq!(s.others_without, Some(0.0));
    let hierarchy = "columns.s.hierarchy = { text = 'a;ab;*\nb;ab;*\nc;cd;*\nd;cd;*\n' }";
    let toml = format!(
        "k = 2\ncolumns.x.role = 'quasi'\ncolumns.s.role = 'quasi'\n{}",
        hierarchy.replace('\n', "\\n").replace('\'', "\"")
    );
    let request = Request::parse(&toml).unwrap();
    let found = explain(source(text), &request, &Cancel::default()).unwrap();
    let s = found.columns.iter().find(|column| column.name == "s").unwrap();
    let coarser = s.coarser.as_ref().unwrap();
    assert_eq!((&coarser.to[..], coarser.others), ("next level", 0.0), "ab and cd by x");
}

#[test]
fn helps_are_in_order_and_the_page_shows_them() {
    let mut text = "x,y\n".to_string();
    (0..300).for_each(|row| text += &format!("{},{}\n", row * 7 % 50, row * 11 % 13));
    text += "900,5\n";
    let request = Request::new(5).quasi_identifiers(["x", "y"]);
    let found = explain(source(&text), &request, &Cancel::default()).unwrap();
    let less = found.suppression.as_ref().unwrap();
    assert!(less.loss < found.loss && less.suppressed > 0 && less.suppressed <= 3);
    assert_eq!(found.smaller_k.as_ref().unwrap().k, 3);
    let helps = found.helps();
    assert!(helps.windows(2).all(|pair| pair[0].now - pair[0].then >= pair[1].now - pair[1].then));
    assert!(html(&found).contains(&helps[0].sentence()));
    // With rules that forbid suppression there is no such figure.
    let t = Request::parse(
        "k = 5\ncolumns = { x.role = 'quasi', y = { role = 'sensitive', t = 0.9 } }",
    );
    let found = explain(source(&text), &t.unwrap(), &Cancel::default()).unwrap();
    assert!(found.suppression.is_none() && found.columns[0].others_without.is_none());
}

#[test]
fn without_time_there_is_no_figure() {
    let mut request = Request::new(2).quasi_identifiers(["x"]);
    request.limits.time = Some("0s".into());
    let error = explain(source("x\n1\n2\n"), &request, &Cancel::default()).unwrap_err();
    assert_eq!(error.code(), "no-time");
}

#[test]
fn on_adult_two_columns_cost_half_of_the_detail() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("LOOKALIKE_DATA").map_or(beside, PathBuf::from);
    let file = folder.join("adult_30162.csv.zst");
    if !file.is_file() {
        eprintln!("skipped: no real tables at {}; set LOOKALIKE_DATA", folder.display());
        return;
    }
    let source = table::open(&file, &Input::default()).unwrap();
    let mut request =
        Request::new(5).quasi_identifiers(["age", "education", "occupation", "race", "sex"]);
    request.limits.time = Some("1h".into());
    request.rest = Some(lookalike::request::Rest::Drop);
    let found = explain(source, &request, &Cancel::default()).unwrap();
    assert!(found.is_complete && found.rows == 30_162);
    let first = &found.columns[0];
    assert!(first.part > 0.2 && first.others_without.unwrap() < first.others);
    assert!(found.smaller_k.unwrap().loss < found.loss);
    assert!(found.suppression.unwrap().loss < found.loss);
    assert!(found.costly.share > 0.0 && found.costly.share < 0.3);
}
