//! Codebooks: every word and number of them can be read from the release.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use arrow_cast::display::{ArrayFormatter, FormatOptions};
use lookalike::release::codebook::{Codebook, CodebookColumn};
use lookalike::rng::Rng;
use lookalike::run::{Cancel, Effort, ReleasedTable, Run, Sink};
use lookalike::table::{self, Existing};
use lookalike::{Algorithm, Request};

use crate::support::built;

/// Ages, cities, ranks and kept notes. Rare cities are likely to be suppressed.
fn text(seed: u64, rows: usize) -> String {
    let mut rng = Rng::new(seed);
    let mut text = "age,city,rank,day,note,n\n".to_string();
    for _ in 0..rows {
        let age = match rng.below(12) {
            0 => String::new(),
            _ => (20 + rng.below(30)).to_string(),
        };
        let city = ["Ulm", "Bonn", "Kiel", "Celle", "Jena", "Rare"][rng.place(30).min(35) / 6 % 6];
        let city = if rng.below(40) == 0 { format!("Only{}", rng.below(99)) } else { city.into() };
        let rank = ["low", "mid", "high"][rng.place(3)];
        let day = format!("2024-03-{:02}", 1 + rng.below(28));
        text += &format!("{age},{city},{rank},{day},note{},{}\n", rng.below(9), 1 + rng.below(3));
    }
    text
}

fn released(more: &str, text: &str) -> ReleasedTable {
    let toml = format!(
        "k = 3\nseed = 5\nsteps = 60\nrest = 'drop'\noutput.codebook = true\n{more}\n[columns]\n\
         age = {{ role = 'quasi' }}\ncity = {{ role = 'quasi' }}\nday = {{ role = 'quasi' }}\n\
         rank = {{ role = 'quasi', order = ['low', 'mid', 'high'] }}\nnote = {{ role = 'keep' }}"
    );
    let request = Request::parse(&toml).unwrap();
    let source = table::open_text(text.to_string(), Path::new("data.csv")).unwrap();
    Run::new(&request).bound(Effort::None).in_memory(source).unwrap()
}

/// The cells of a released table as texts, by column; none where a cell is missing.
fn cells(released: &ReleasedTable) -> BTreeMap<String, Vec<Option<String>>> {
    let mut cells: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
    for batch in &released.batches {
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            let text = ArrayFormatter::try_new(column, &FormatOptions::default()).unwrap();
            let cell = |row| column.is_valid(row).then(|| text.value(row).to_string());
            cells.entry(field.name().clone()).or_default().extend((0..column.len()).map(cell));
        }
    }
    cells
}

fn column<'a>(codebook: &'a Codebook, name: &str) -> &'a CodebookColumn {
    codebook.columns.iter().find(|column| column.name == name).unwrap()
}

const FORMS: [&str; 7] = [
    "",
    "limits.suppress = '15%'",
    "output.publish = 'set'\nlimits.suppress = '15%'",
    "output.publish = 'bounds'\nlimits.suppress = '15%'",
    "output.publish = 'center'",
    "algorithm = 'incognito'\nlimits.suppress = '15%'",
    "algorithm = 'mondrian'\ncount = 'n'",
];

#[test]
fn labels_rows_and_shares_are_those_of_the_released_cells() {
    for (seed, more) in (1..).zip(FORMS) {
        let text = text(seed, 150);
        let released = released(more, &text);
        let (cells, codebook) = (cells(&released), released.codebook.as_ref().unwrap());
        let names: Vec<&str> = codebook.columns.iter().map(|column| column.name.as_str()).collect();
        let fields = released.schema.fields().iter().map(|field| field.name().as_str());
        assert_eq!(names, fields.collect::<Vec<_>>(), "{more}");
        // Rows that stand for several count as often.
        let weights: Vec<u64> = match cells.get("n") {
            Some(counts) => counts.iter().map(|n| n.as_ref().unwrap().parse().unwrap()).collect(),
            None => vec![1; cells["note"].len()],
        };
        let all: u64 = weights.iter().sum();
        assert_eq!(codebook.rows, all, "{more}");
        for name in ["city", "age", "rank"].iter().filter(|name| cells.contains_key(**name)) {
            let found = column(codebook, name);
            let mut rows: BTreeMap<Option<String>, u64> = BTreeMap::new();
            for (cell, weight) in cells[*name].iter().zip(&weights) {
                *rows.entry(cell.clone()).or_default() += weight;
            }
            assert_eq!(found.label_count, Some(rows.len()), "{more} {name}");
            if *name != "age" {
                let listed: BTreeMap<Option<String>, u64> =
                    found.labels.iter().map(|shown| (shown.label.clone(), shown.rows)).collect();
                assert_eq!(listed, rows, "{more} {name}");
            }
            let is_general = |cell: &str| cell == "*" || cell.starts_with(['[', '{']);
            let general = rows.iter().filter(|(cell, _)| cell.as_deref().is_some_and(is_general));
            let share = general.map(|(_, rows)| *rows).sum::<u64>() as f64 / all as f64;
            assert_eq!(found.generalized, Some(share), "{more} {name}");
            assert_eq!(
                found.reading.iter().any(|sentence| sentence.contains("`*`")),
                rows.contains_key(&Some("*".to_string())),
                "{more} {name}"
            );
        }
        if let (Some(least), Some(greatest)) = (cells.get("age_min"), cells.get("age_max")) {
            let number = |cell: &Option<String>| cell.as_ref().map(|n| n.parse::<f64>().unwrap());
            let widths =
                least.iter().zip(greatest).filter_map(|(a, b)| Some(number(b)? - number(a)?));
            let widths: Vec<f64> = widths.collect();
            let mean = widths.iter().sum::<f64>() / widths.len() as f64;
            let found = column(codebook, "age_max").mean_width.unwrap();
            assert!((found - mean).abs() < 1e-9, "{more} {found} {mean}");
        }
    }
}

#[test]
fn a_codebook_has_no_value_that_the_release_does_not_show() {
    let mut hidden = 0;
    for (seed, more) in (20..).zip(FORMS) {
        let text = text(seed, 150);
        let released = released(more, &text);
        let shown: BTreeSet<String> = cells(&released).into_values().flatten().flatten().collect();
        let json = released.codebook.as_ref().unwrap().json();
        let cities = text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap());
        for city in cities.collect::<BTreeSet<_>>() {
            let is_shown = shown.iter().any(|cell| cell.contains(city));
            hidden += usize::from(!is_shown);
            assert!(is_shown || !json.contains(city), "{more}: {city}");
        }
    }
    assert!(hidden > 10, "{hidden}: the test sees nothing");
}

#[test]
fn labels_are_in_the_order_of_the_domain() {
    let released = released("algorithm = 'mondrian'", &text(3, 150));
    let ranks = &column(released.codebook.as_ref().unwrap(), "rank").labels;
    let order = ["low", "[low-mid]", "[low-high]", "mid", "[mid-high]", "high"];
    let places = ranks.iter().map(|shown| {
        order.iter().position(|label| Some(*label) == shown.label.as_deref()).unwrap()
    });
    assert!(places.clone().is_sorted() && places.count() > 1, "{ranks:?}");
}

#[test]
fn the_codebook_of_a_file_is_the_same_whichever_way_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let request = Request::new(3).seed(4).algorithm("mondrian").quasi_identifiers(["age", "city"]);
    let request = request.drop_others().codebook();
    let source = || table::open_text(text(9, 90), Path::new("data.csv")).unwrap();
    let run = || Run::new(&request).bound(Effort::None).codebook_page(Codebook::json);
    let released = run().in_memory(source()).unwrap();
    for name in built(&["safe.csv", "safe.parquet"]) {
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        for place in [&one, &other] {
            std::fs::create_dir_all(place).unwrap();
        }
        run().existing(Existing::Overwrite).to_file(source(), one.join(name)).unwrap();
        released.to_file(other.join(name), Existing::Overwrite, &Cancel::default()).unwrap();
        for end in ["json", "html"] {
            let read = |place: &Path| {
                std::fs::read_to_string(place.join(format!("safe.codebook.{end}"))).unwrap()
            };
            assert_eq!(read(&one), read(&other));
            assert_eq!(read(&one).contains("apostrophe"), name == "safe.csv");
            assert!(read(&one).contains(name));
        }
    }
}

#[test]
fn a_codebook_without_a_place_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let safe = folder.path().join("safe.csv");
    let request = Request::new(3).seed(4).algorithm(Algorithm::Mondrian.name());
    let request = request.quasi_identifiers(["age"]).drop_others().codebook();
    let source = || table::open_text(text(9, 90), Path::new("data.csv")).unwrap();
    let code = |error: lookalike::Error| error.code().to_string();
    let to = |path: &Path| Run::new(&request).to_file(source(), path).map(drop).map_err(code);
    assert_eq!(to(Path::new("-")), Err("no-codebook".into()));
    let counted = request.clone().count("n");
    let plan = Run::new(&counted).plan_to_file(source(), &safe);
    assert_eq!(plan.map(drop).map_err(code), Err("no-codebook".into()));
    let sink = Sink::new(|_| panic!("nothing is written"), || Ok(()));
    let sunk = Run::new(&request).to_sink(source(), sink);
    assert_eq!(sunk.map(drop).map_err(code), Err("no-codebook".into()));
    std::fs::write(folder.path().join("safe.codebook.json"), "mine").unwrap();
    assert!(to(&safe).is_err());
    assert!(!safe.exists());
    assert_eq!(std::fs::read_to_string(folder.path().join("safe.codebook.json")).unwrap(), "mine");
}
