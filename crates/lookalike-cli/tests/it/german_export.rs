//! An export as a hospital has it, made up from a seed: semicolons, decimal commas, 26.12.2014, four
//! texts for "missing", Windows-1252; the same table as a workbook, and as a workbook whose cells are
//! texts. `init` and `anonymize` without a further flag must give a good release of all three.

#![allow(clippy::cast_possible_truncation, reason = "small made-up numbers")]

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;

use crate::workdir::Workdir;

const ROWS: u64 = 5_000;
const NAMES: [&str; 11] = [
    "Nr",
    "Name",
    "Geburtsdatum",
    "PLZ",
    "Geschlecht",
    "Größe",
    "Gewicht",
    "Aufnahme",
    "Kosten",
    "Diagnose",
    "Raucher",
];

/// A cell: a number with so many decimals, a moment in minutes since 1900, a day since 1900, or text.
enum Cell {
    Number(f64, usize),
    Day(u64),
    Minute(u64),
    Text(String),
}

/// Random numbers from a seed.
struct Random(u64);

impl Random {
    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64) / (1_u64 << 31) as f64
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.share() * limit as f64) as usize
    }

    /// Nearly normal: the sum of twelve.
    fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        mean + deviation * ((0..12).map(|_| self.share()).sum::<f64>() - 6.0)
    }
}

fn rows() -> Vec<Vec<Cell>> {
    const PLZ: [&str; 12] = [
        "06108", "06110", "06114", "06118", "06120", "06122", "04103", "04105", "04109", "39104",
        "39108", "99084",
    ];
    const SURNAMES: [&str; 4] = ["Müller", "Weiß", "Jäger", "Schäfer"];
    const DIAGNOSES: [&str; 6] = ["E11.9", "I10", "J45.0", "B20", "A41.9", "C50.9"];
    let mut random = Random(7);
    (1..=ROWS)
        .map(|number| {
            let text = |text: &str| Cell::Text(text.to_string());
            // From 1930 on, as many of each age and each place.
            let born = 10_959 + random.below(32_000) as u64;
            let place = random.below(12);
            let is_man = random.below(2) == 0;
            let height = random.normal(if is_man { 178.0 } else { 165.0 }, 6.5);
            let weight = random.normal(height - 95.0, 9.0);
            let missing = |random: &mut Random, value: f64| match random.below(200) {
                0 => text(""),
                1 => text("k.A."),
                2 => text("NA"),
                3 => text("-"),
                _ => Cell::Number(value, 1),
            };
            vec![
                Cell::Number(number as f64, 0),
                Cell::Text(format!("{} {number}", SURNAMES[random.below(4)])),
                Cell::Day(born),
                text(PLZ[place]),
                text(if is_man { "m" } else { "w" }),
                missing(&mut random, height),
                missing(&mut random, weight),
                // In the year 2023.
                Cell::Minute(44_927 * 1_440 + random.below(525_600) as u64),
                Cell::Number(random.normal(7.5, 0.8).exp(), 2),
                text(DIAGNOSES[random.below(6)]),
                text(["ja", "nein"][random.below(2)]),
            ]
        })
        .collect()
}

/// Day, month and year of a day, counted as spreadsheets count them.
fn date(day: u64) -> (u64, u64, u64) {
    // Days since March of the year 0, in cycles of four hundred years.
    let days = day + 693_899;
    let (cycle, rest) = (days / 146_097, days % 146_097);
    let year = (rest - rest / 1_460 + rest / 36_524 - rest / 146_096) / 365;
    let of_year = rest - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (day, month, cycle * 400 + year + later)
}

/// `1.234,50`
fn german(value: f64, decimals: usize) -> String {
    let plain = format!("{value:.decimals$}");
    let (whole, part) = plain.split_once('.').unwrap_or((&plain, ""));
    let groups: Vec<&str> =
        whole.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap()).collect();
    let whole = if decimals == 2 { groups.join(".") } else { whole.to_string() };
    if part.is_empty() { whole } else { format!("{whole},{part}") }
}

/// The cell as a German program writes it.
fn german_text(cell: &Cell) -> String {
    match cell {
        Cell::Number(value, decimals) => german(*value, *decimals),
        Cell::Day(day) => {
            let (day, month, year) = date(*day);
            format!("{day:02}.{month:02}.{year}")
        }
        Cell::Minute(minute) => {
            let (day, month, year) = date(minute / 1_440);
            format!("{day:02}.{month:02}.{year} {:02}:{:02}", minute / 60 % 24, minute % 60)
        }
        Cell::Text(text) => text.clone(),
    }
}

fn csv(rows: &[Vec<Cell>]) -> Vec<u8> {
    let mut text = NAMES.join(";") + "\r\n";
    for row in rows {
        text += &(row.iter().map(german_text).collect::<Vec<_>>().join(";") + "\r\n");
    }
    text.chars().map(|c| u8::try_from(u32::from(c)).expect("a letter of Windows-1252")).collect()
}

/// The parts of a workbook with one sheet; style 1 is a day, style 2 a moment.
fn xlsx(rows: &[Vec<Cell>]) -> Vec<u8> {
    let text = |text: &str| format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let cell = |cell: &Cell| match cell {
        Cell::Number(value, decimals) => format!("<c><v>{value:.decimals$}</v></c>"),
        Cell::Day(day) => format!("<c s=\"1\"><v>{day}</v></c>"),
        Cell::Minute(minute) => format!("<c s=\"2\"><v>{:.9}</v></c>", *minute as f64 / 1_440.0),
        Cell::Text(value) => text(value),
    };
    let mut sheet = format!("<row>{}</row>", NAMES.map(text).concat());
    for row in rows {
        sheet += &format!("<row>{}</row>", row.iter().map(cell).collect::<String>());
    }
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let relations = "http://schemas.openxmlformats.org/package/2006/relationships";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let parts = [
        (
            "[Content_Types].xml",
            "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
             <Default Extension=\"xml\" ContentType=\"application/xml\"/></Types>"
                .to_string(),
        ),
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"{relations}\"><Relationship Id=\"r1\" \
                 Type=\"{office}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml",
            format!(
                "<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets><sheet name=\"Patienten\" \
                 sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships xmlns=\"{relations}\"><Relationship Id=\"r1\" \
                 Type=\"{office}/worksheet\" Target=\"worksheets/sheet1.xml\"/><Relationship \
                 Id=\"r2\" Type=\"{office}/styles\" Target=\"styles.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/styles.xml",
            format!(
                "<styleSheet xmlns=\"{main}\"><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf \
                 numFmtId=\"22\"/></cellXfs></styleSheet>"
            ),
        ),
        (
            "xl/worksheets/sheet1.xml",
            format!("<worksheet xmlns=\"{main}\"><sheetData>{sheet}</sheetData></worksheet>"),
        ),
    ];
    let mut book = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        book.start_file(name, SimpleFileOptions::default()).unwrap();
        book.write_all(content.as_bytes()).unwrap();
    }
    book.finish().unwrap().into_inner()
}

/// The same rows, every cell a text.
fn texts(rows: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
    let text = |cell: &Cell| Cell::Text(german_text(cell));
    rows.iter().map(|row| row.iter().map(text).collect()).collect()
}

#[test]
fn followed_blindly_init_gives_a_good_release() {
    let rows = rows();
    for (name, content) in [
        ("patienten.csv", csv(&rows)),
        ("patienten.xlsx", xlsx(&rows)),
        ("texte.xlsx", xlsx(&texts(&rows))),
    ] {
        let dir = Workdir::new();
        dir.write(name, content);
        dir.succeed(&format!("init {name} -o patienten.toml"));
        let toml = dir.text("patienten.toml");
        for quasi in ["Geburtsdatum", "PLZ", "Geschlecht", "\"Größe\"", "Gewicht", "Aufnahme"] {
            let line = toml.lines().find(|line| line.starts_with(quasi)).unwrap_or_default();
            assert!(line.contains("role = \"quasi\""), "{name}: {quasi}: {toml}");
        }
        assert!(toml.contains("missing = [\"-\", \"NA\", \"k.A.\"]"), "{toml}");
        // Counted steps instead of ten seconds: the same on every machine.
        let steps = "--steps 20000 --time 10m --seed 1 --bound none --json";
        let run = dir.succeed(&format!("anonymize -c patienten.toml -o safe.csv {steps}"));
        let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let lost = found["loss"]["gcp"].as_f64().unwrap_or_else(|| panic!("{found}"));
        assert!(lost <= 0.14, "{name}: {lost}");
        dir.succeed(&format!("verify safe.csv -c patienten.toml --source {name}"));
        // Ranges of dates end where months and years do.
        let text = dir.text("safe.csv");
        let dates = text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
        let is_date = |date: &&str| {
            let signs: Vec<usize> = date.match_indices(['.', '-']).map(|(at, _)| at).collect();
            date.len() == 10 && (signs == [2, 5] || signs == [4, 7])
        };
        for date in dates.filter(is_date) {
            let is_end = ["01.", "31.12."].iter().any(|day| date.starts_with(day))
                || ["-01", "-12-31"].iter().any(|day| date.ends_with(day));
            assert!(is_end, "{name}: an exact date");
        }
    }
}

#[test]
fn days_are_those_of_a_spreadsheet() {
    assert_eq!(date(10_959), (1, 1, 1930));
    assert_eq!(date(44_927), (1, 1, 2023));
    assert_eq!(date(36_585), (29, 2, 2000));
}
