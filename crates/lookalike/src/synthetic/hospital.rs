//! Synthetic admissions to a hospital, for demonstrations: who, when, from where, and why.
//!
//! People come from a few districts that differ in age: students, families, pensioners. Diagnoses
//! depend on age and wards on diagnoses, but neither determines the other.

use std::sync::{Arc, LazyLock};

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use jiff::civil::date;

use super::{Pick, band, chance, row_generators};
use crate::rng::Rng;

const FIRST_NAMES: [&str; 2] = [
    "Adam Boris Carl David Emil Felix Georg Hugo Ivan Jonas Karim Liam Milan Noah Oskar Pavel \
     Quentin Rafael Samir Tom Umar Viktor",
    "Ada Bella Clara Dora Emma Fatima Greta Hanna Ida Julia Klara Lena Mira Nora Olga Petra Rosa \
     Sara Tina Ulla Vera Wanda",
];
const SURNAMES: &str = "Abbott Barlow Castell Dunmore Eastman Farrow Gilroy Hartwell Ingram \
    Jessop Kendrick Larkin Mortlake Norwood Osgood Penrose Quigley Redfern Stanhope Thackeray \
    Underhill Vickers Westlake Yardley Ashdown Birkett Colburn Dexley Elwood Fenwick";
const SEX: [&str; 2] = ["male", "female"];
const MARITAL: [&str; 4] = ["single", "married", "divorced", "widowed"];

/// Districts: first three digits of the postcode, weight, typical age, and its spread in either
/// direction.
const DISTRICTS: [(&str, u64, u64, u64); 6] = [
    ("537", 34, 41, 40),
    ("535", 22, 47, 38),
    ("532", 16, 27, 12),
    ("549", 12, 63, 26),
    ("021", 10, 72, 18),
    ("606", 6, 36, 32),
];
/// The last two digits of a district's postcodes, the commonest first.
const POSTCODES: [(&str, u64); 7] =
    [("11", 40), ("03", 24), ("15", 14), ("04", 10), ("19", 6), ("26", 4), ("92", 2)];

/// Diagnoses: weights up to the age of 17, 39, 64, and above; the usual ward.
const DIAGNOSES: [(&str, [u64; 4], usize); 12] = [
    ("hypertension", [2, 40, 190, 260], 0),
    ("influenza", [260, 190, 120, 110], 1),
    ("fracture", [220, 170, 90, 140], 2),
    ("diabetes", [30, 50, 130, 120], 0),
    ("asthma", [190, 110, 60, 40], 1),
    ("gastritis", [80, 140, 120, 60], 3),
    ("pneumonia", [90, 50, 60, 130], 1),
    ("depression", [30, 140, 90, 30], 4),
    ("appendicitis", [90, 80, 30, 10], 2),
    ("cancer", [4, 14, 70, 90], 3),
    ("hepatitis", [3, 10, 14, 8], 3),
    ("HIV", [0, 9, 7, 2], 4),
];
const WARDS: [&str; 5] = ["North 1", "North 2", "South 1", "South 2", "West"];

/// The weights above, ready to draw from.
struct HospitalModel {
    names: [Vec<&'static str>; 2],
    surnames: Vec<&'static str>,
    district: Pick,
    postcode: Pick,
    postcodes: Vec<String>,
    diagnosis: Vec<Pick>,
    dates: Vec<String>,
    day: Pick,
}

static MODEL: LazyLock<HospitalModel> = LazyLock::new(|| {
    let days: Vec<_> = date(2023, 1, 1)
        .series(jiff::ToSpan::days(1))
        .take_while(|day| day.year() < 2025)
        .collect();
    // More in winter, fewer on a weekend.
    let weight = |day: &jiff::civil::Date| match (day.month(), day.weekday().to_monday_one_offset())
    {
        (12 | 1 | 2, 1..6) => 14,
        (_, 1..6) => 10,
        _ => 6,
    };
    HospitalModel {
        names: FIRST_NAMES.map(|names| names.split_whitespace().collect()),
        surnames: SURNAMES.split_whitespace().collect(),
        district: Pick::new(&DISTRICTS.map(|(_, weight, ..)| weight)),
        postcode: Pick::new(&POSTCODES.map(|(_, weight)| weight)),
        postcodes: DISTRICTS
            .iter()
            .flat_map(|(first, ..)| POSTCODES.map(|(last, _)| format!("{first}{last}")))
            .collect(),
        diagnosis: (0..4)
            .map(|age| Pick::new(&DIAGNOSES.map(|(_, weights, _)| weights[age])))
            .collect(),
        day: Pick::new(&days.iter().map(weight).collect::<Vec<u64>>()),
        dates: days.iter().map(ToString::to_string).collect(),
    }
});

/// A member of a list, uniformly drawn.
fn any(rng: &mut Rng, list: &[&'static str]) -> &'static str {
    list[rng.place(list.len())]
}

/// An age around the district's: the mean of three uniform draws is nearly normal.
fn age(rng: &mut Rng, typical: u64, spread: u64) -> u64 {
    let around: u64 = (0..3).map(|_| rng.below(2 * spread + 1)).sum::<u64>() / 3;
    (typical + around).saturating_sub(spread).min(98)
}

fn marital(rng: &mut Rng, age: u64) -> usize {
    let draw = rng.below(100);
    let [single, married, divorced] = match age {
        0..18 => [100, 100, 100],
        18..28 => [86, 98, 100],
        28..45 => [35, 87, 99],
        45..66 => [14, 76, 95],
        _ => [6, 58, 68],
    };
    band(draw, &[single, married, divorced])
}

pub(super) fn schema() -> SchemaRef {
    let text = |name: &str, nullable| Field::new(name, DataType::Utf8, nullable);
    Arc::new(Schema::new(vec![
        text("name", false),
        Field::new("age", DataType::Int64, true),
        text("zip", true),
        text("sex", false),
        text("marital", false),
        text("admission", false),
        text("diagnosis", false),
        text("ward", false),
    ]))
}

pub(super) fn batch(seed: u64, first_row: u64, rows: usize) -> RecordBatch {
    let model = &*MODEL;
    let mut ages = Int64Builder::with_capacity(rows);
    let mut texts: [StringBuilder; 7] =
        std::array::from_fn(|_| StringBuilder::with_capacity(rows, rows * 10));
    for mut rng in row_generators(seed, first_row, rows) {
        let rng = &mut rng;
        let district = model.district.draw(rng);
        let (_, _, typical, spread) = DISTRICTS[district];
        let age = age(rng, typical, spread);
        let postcode = &model.postcodes[district * POSTCODES.len() + model.postcode.draw(rng)];
        let sex = usize::from(chance(rng, 52));
        let life = band(age, &[18, 40, 65]);
        let (diagnosis, _, usual) = DIAGNOSES[model.diagnosis[life].draw(rng)];
        let ward = if chance(rng, 65) { WARDS[usual] } else { any(rng, &WARDS) };
        let [first, surname] = [any(rng, &model.names[sex]), any(rng, &model.surnames)];
        let initial = char::from(b'A' + u8::try_from(rng.below(26)).expect("a letter"));
        ages.append_option((!chance(rng, 1)).then(|| i64::try_from(age).expect("a small number")));
        texts[0].append_value(format!("{first} {initial}. {surname}"));
        texts[1].append_option((!chance(rng, 2)).then_some(postcode));
        texts[2].append_value(SEX[sex]);
        texts[3].append_value(MARITAL[marital(rng, age)]);
        texts[4].append_value(&model.dates[model.day.draw(rng)]);
        texts[5].append_value(diagnosis);
        texts[6].append_value(ward);
    }
    let mut columns: Vec<ArrayRef> =
        texts.iter_mut().map(|text| Arc::new(text.finish()) as ArrayRef).collect();
    columns.insert(1, Arc::new(ages.finish()));
    RecordBatch::try_new(schema(), columns).expect("the columns fit the schema")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_array::{Array, StringArray};

    use super::*;

    fn text<'a>(table: &'a RecordBatch, name: &str) -> &'a StringArray {
        table.column_by_name(name).unwrap().as_string()
    }

    #[test]
    fn a_few_ages_and_postcodes_are_missing() {
        let table = batch(1, 0, 2_000);
        let missing = |name: &str| table.column_by_name(name).unwrap().null_count();
        assert!((5..50).contains(&missing("age")), "{}", missing("age"));
        assert!((15..80).contains(&missing("zip")), "{}", missing("zip"));
        assert_eq!(missing("diagnosis"), 0);
        let ages = table.column_by_name("age").unwrap().as_primitive::<Int64Type>();
        assert!(ages.iter().flatten().all(|age| (0..=98).contains(&age)));
        assert!(
            text(&table, "zip")
                .iter()
                .flatten()
                .all(|zip| zip.len() == 5 && zip.bytes().all(|b| b.is_ascii_digit()))
        );
    }

    #[test]
    fn the_sensitive_value_is_rare_but_there() {
        let table = batch(1, 0, 2_000);
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        text(&table, "diagnosis")
            .iter()
            .flatten()
            .for_each(|diagnosis| *counts.entry(diagnosis).or_default() += 1);
        assert_eq!(counts.len(), 12);
        assert!((3..40).contains(&counts["HIV"]), "{counts:?}");
    }

    #[test]
    fn no_ward_and_no_diagnosis_tells_a_quasi_identifier() {
        let table = batch(1, 0, 2_000);
        for known in ["ward", "diagnosis"] {
            for guessed in ["zip", "sex", "marital", "admission"] {
                let mut seen: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
                for (known, guess) in
                    text(&table, known).iter().flatten().zip(text(&table, guessed))
                {
                    seen.entry(known).or_default().insert(guess);
                }
                assert!(seen.values().all(|guesses| guesses.len() > 1), "{known} tells {guessed}");
            }
        }
    }

    #[test]
    fn admissions_are_dates_of_two_years() {
        let table = batch(1, 0, 2_000);
        let dates: Vec<&str> = text(&table, "admission").iter().flatten().collect();
        assert!(dates.iter().all(|day| day.parse::<jiff::civil::Date>().is_ok()));
        assert!(
            dates.iter().min().unwrap().starts_with("2023-01")
                && dates.iter().max().unwrap().starts_with("2024-12")
        );
    }
}
