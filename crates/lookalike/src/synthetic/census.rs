//! A synthetic census: age, sex, race, marital status, education, birthplace, occupation, class of
//! work, and an income.
//!
//! Domain sizes are those of the American Community Survey; the marginals are skewed and correlated
//! in the same way, by round numbers chosen by hand (no record of any real person went in). Blanks
//! stand where a question does not apply: children have no work, babies no schooling. The sensitive
//! column is the income, one of a hundred amounts.

use std::sync::{Arc, LazyLock};

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::{Pick, band, chance, falling, row_generators};
use crate::rng::Rng;

const SEX: [&str; 2] = ["Male", "Female"];
const RACE: [&str; 9] =
    ["White", "Black", "AmIndian", "Alaska", "Tribe", "Asian", "Pacific", "Other", "Mixed"];
const RACE_WEIGHTS: [u64; 9] = [6_600, 1_180, 90, 6, 10, 600, 20, 620, 874];
const ASIAN: usize = 5;
const MARITAL: [&str; 5] = ["Married", "Widowed", "Divorced", "Separated", "Single"];
const SINGLE: usize = 4;

#[rustfmt::skip]
const EDUCATION: [&str; 24] = [
    "None", "Nursery", "Kinder", "Grade1", "Grade2", "Grade3", "Grade4", "Grade5", "Grade6",
    "Grade7", "Grade8", "Grade9", "Grade10", "Grade11", "Grade12", "HighSch", "GED", "College1",
    "College", "Assoc", "Bachelor", "Master", "Prof", "Doctor",
];
const HIGH_SCHOOL: usize = 15;

/// Weights of the education of adults: aged 18 to 24, 25 to 64 born here, 25 to 64 born abroad, 65
/// and over.
#[rustfmt::skip]
const EDUCATION_WEIGHTS: [[u64; 24]; 4] = [
    [6, 0, 0, 0, 0, 0, 1, 1, 3, 2, 4, 8, 14, 40, 40, 250, 35, 120, 260, 60, 110, 8, 1, 0],
    [7, 0, 0, 0, 0, 0, 0, 1, 2, 2, 5, 9, 14, 22, 18, 225, 42, 62, 150, 100, 215, 95, 18, 13],
    [30, 1, 0, 3, 5, 10, 9, 10, 50, 8, 18, 28, 12, 14, 30, 190, 14, 30, 80, 65, 190, 120, 22, 30],
    [12, 0, 0, 1, 2, 4, 4, 4, 10, 8, 30, 16, 22, 20, 16, 290, 25, 55, 130, 75, 150, 90, 20, 16],
];

/// Ages in fives from 0; the last entry is 95 and over.
const AGE_WEIGHTS: [u64; 20] =
    [110, 118, 126, 130, 126, 128, 134, 132, 126, 120, 124, 128, 130, 116, 96, 68, 42, 26, 14, 20];

/// Weights of the marital status of men and women, from the ages 15, 20, 25, 35, 55 and 75 on.
const MARITAL_WEIGHTS: [[[u64; 5]; 2]; 6] = [
    [[4, 0, 0, 0, 996], [8, 0, 0, 1, 991]],
    [[60, 0, 4, 4, 932], [100, 1, 8, 7, 884]],
    [[410, 2, 45, 18, 525], [490, 4, 65, 26, 415]],
    [[630, 8, 125, 22, 215], [610, 22, 165, 33, 170]],
    [[680, 40, 165, 15, 100], [570, 130, 195, 20, 85]],
    [[680, 200, 80, 5, 35], [330, 500, 120, 5, 45]],
];

/// The percentage of adults of each race who were born abroad; for children a quarter of it.
const FOREIGN: [u64; 9] = [6, 11, 3, 1, 20, 70, 20, 40, 24];

/// Birthplaces outside the country (which is `USA`), in five parts of the world, the most frequent
/// first.
const ABROAD: [&str; 5] = [
    "MEX SLV GTM COL HND DOM CUB VEN ECU BRA PER NIC ARG CHL CRI PAN BOL URY PRY BLZ GUY SUR PRI \
     GUF FLK",
    "DEU CAN GBR POL RUS ITA UKR IRN PRT FRA ROU IRQ GRC IRL ISR TUR BIH LBN NLD ESP SYR ALB HUN \
     ARM EGY BLR MAR SWE BGR SRB UZB JOR AUT CHE MDA KAZ LTU CZE SAU BEL HRV KWT MKD DNK NOR LVA \
     AZE GEO SVK FIN YEM DZA TUN XKX KGZ TKM MNE ARE QAT LBY BHR OMN SVN EST CYP MLT ISL LUX PSE \
     TJK AND MCO LIE SMR GIB GRL BMU VAT IMN JEY GGY FRO",
    "JAM HTI NGA ETH GHA TTO KEN LBR SOM CPV BRB ZAF CMR SDN BHS SLE SEN UGA COD GRD ERI LCA TGO \
     GIN ATG CIV VCT DMA TZA RWA ZWE GMB BDI KNA MLI COG ZMB BEN BFA AGO SSD MWI NER MRT GAB MOZ \
     TCD NAM BWA MDG CAF LSO SWZ GNB GNQ DJI MUS SYC COM STP ABW CUW VIR VGB TCA CYM MSR AIA MTQ \
     GLP BES SXM REU MYT ESH SHN",
    "IND CHN PHL VNM KOR JPN TWN PAK BGD THA LAO HKG KHM NPL MMR IDN AFG LKA MYS SGP BTN MNG MAC \
     BRN PRK MDV TLS",
    "AUS FJI NZL TON WSM GUM FSM MHL PLW MNP ASM PNG PYF SLB VUT NCL KIR TUV NRU COK NIU TKL WLF \
     NFK",
];

/// For people of each race who were born abroad, the weight of each part of the world.
const ABROAD_WEIGHTS: [[u64; 5]; 9] = [
    [30, 60, 4, 5, 1],
    [6, 4, 88, 1, 1],
    [90, 4, 2, 3, 1],
    [40, 40, 0, 10, 10],
    [90, 4, 2, 3, 1],
    [1, 2, 1, 95, 1],
    [1, 4, 0, 20, 75],
    [93, 3, 2, 1, 1],
    [78, 10, 5, 6, 1],
];

#[derive(Clone, Copy)]
pub(super) enum Sector {
    Business,
    Public,
    Care,
    Trades,
    Farm,
}

/// Groups of occupations: its letters, its weights by education (none, high school, college,
/// bachelor, above), the percentage of women, and its sector.
pub(super) const OCCUPATIONS: [(&str, [u64; 5], u64, Sector); 24] = [
    ("MGR", [20, 50, 90, 180, 170], 42, Sector::Business),
    ("BUS", [4, 16, 36, 90, 60], 55, Sector::Business),
    ("FIN", [1, 6, 20, 70, 40], 52, Sector::Business),
    ("CMM", [2, 8, 26, 90, 70], 26, Sector::Business),
    ("ENG", [1, 8, 22, 60, 50], 16, Sector::Business),
    ("SCI", [0, 1, 4, 24, 60], 47, Sector::Public),
    ("CMS", [2, 5, 12, 34, 50], 67, Sector::Public),
    ("LGL", [0, 2, 8, 14, 90], 50, Sector::Business),
    ("EDU", [6, 16, 40, 110, 230], 74, Sector::Public),
    ("ENT", [5, 12, 20, 46, 26], 47, Sector::Business),
    ("MED", [1, 10, 80, 110, 180], 75, Sector::Care),
    ("HLS", [30, 50, 60, 18, 6], 85, Sector::Care),
    ("PRT", [6, 24, 40, 26, 8], 23, Sector::Public),
    ("EAT", [120, 90, 60, 20, 6], 55, Sector::Business),
    ("CLN", [120, 60, 24, 7, 3], 41, Sector::Trades),
    ("PRS", [30, 36, 40, 20, 9], 77, Sector::Care),
    ("SAL", [80, 110, 120, 110, 40], 49, Sector::Business),
    ("OFF", [50, 130, 150, 80, 30], 72, Sector::Business),
    ("FFF", [30, 10, 5, 3, 1], 24, Sector::Farm),
    ("CON", [120, 90, 40, 12, 4], 4, Sector::Trades),
    ("EXT", [4, 4, 2, 1, 0], 3, Sector::Business),
    ("RPR", [30, 54, 44, 8, 2], 5, Sector::Trades),
    ("PRD", [110, 110, 60, 18, 6], 29, Sector::Trades),
    ("TRN", [130, 130, 70, 24, 8], 22, Sector::Trades),
];
pub(super) const JOBS_IN_GROUP: usize = 20;

const WORK: [&str; 9] =
    ["Private", "Charity", "Local", "State", "Federal", "Self", "SelfInc", "Family", "Never"];
pub(super) const PRIVATE: usize = 0;
pub(super) const FEDERAL: usize = 4;
const NEVER: usize = 8;

/// Weights of the class of work in each sector.
const WORK_WEIGHTS: [[u64; 8]; 5] = [
    [800, 40, 20, 20, 25, 50, 40, 1],
    [180, 120, 420, 180, 90, 10, 2, 0],
    [600, 220, 40, 50, 20, 50, 15, 1],
    [830, 8, 30, 8, 14, 85, 25, 1],
    [560, 4, 2, 4, 5, 330, 60, 35],
];

/// The percentage out of work for years, from the ages 16, 20, 25, 55, 65 and 75 on.
const NOT_WORKING: [u64; 6] = [60, 18, 14, 30, 68, 92];

/// The weights above, ready to draw from.
pub(super) struct CensusModel {
    age: Pick,
    race: Pick,
    marital: Vec<[Pick; 2]>,
    education: Vec<Pick>,
    continent: Vec<Pick>,
    country: Vec<Pick>,
    /// Index of each part's first country in `birthplaces`.
    first_country: Vec<usize>,
    birthplaces: Vec<&'static str>,
    /// By schooling, then by sex.
    occupation: Vec<[Pick; 2]>,
    job: Pick,
    jobs: Vec<String>,
    work: Vec<Pick>,
}

pub(super) static MODEL: LazyLock<CensusModel> = LazyLock::new(|| {
    let ages: Vec<u64> = (0..=95).map(|age| AGE_WEIGHTS[age / 5]).collect();
    let mut birthplaces = vec!["USA"];
    let (mut country, mut first_country) = (Vec::new(), Vec::new());
    for part in ABROAD {
        let names: Vec<&str> = part.split_whitespace().collect();
        country.push(Pick::new(&falling(names.len())));
        first_country.push(birthplaces.len());
        birthplaces.extend(names);
    }
    let by_sex = |schooling: usize, women: bool| {
        let weight = |&(_, weights, share, _): &(_, [u64; 5], u64, Sector)| {
            weights[schooling] * if women { share } else { 100 - share }
        };
        Pick::new(&OCCUPATIONS.iter().map(weight).collect::<Vec<u64>>())
    };
    CensusModel {
        age: Pick::new(&ages),
        race: Pick::new(&RACE_WEIGHTS),
        marital: MARITAL_WEIGHTS
            .iter()
            .map(|[men, women]| [Pick::new(men), Pick::new(women)])
            .collect(),
        education: EDUCATION_WEIGHTS.iter().map(|weights| Pick::new(weights)).collect(),
        continent: ABROAD_WEIGHTS.iter().map(|weights| Pick::new(weights)).collect(),
        country,
        first_country,
        birthplaces,
        occupation: (0..5)
            .map(|schooling| [by_sex(schooling, false), by_sex(schooling, true)])
            .collect(),
        job: Pick::new(&falling(JOBS_IN_GROUP)),
        jobs: OCCUPATIONS
            .iter()
            .flat_map(|(group, ..)| (1..=JOBS_IN_GROUP).map(move |job| format!("{group}{job:02}")))
            .collect(),
        work: WORK_WEIGHTS.iter().map(|weights| Pick::new(weights)).collect(),
    }
});

impl CensusModel {
    /// The part of the world of a birthplace, counted from 1; 0 is the country itself.
    pub(super) fn part(&self, birthplace: usize) -> usize {
        band(birthplace, &self.first_country)
    }
}

/// One row: indices in the lists above; `None` where the question does not apply.
pub(super) struct Person {
    pub(super) age: usize,
    pub(super) sex: usize,
    pub(super) race: usize,
    pub(super) marital: usize,
    pub(super) education: Option<usize>,
    pub(super) birthplace: usize,
    pub(super) occupation: Option<usize>,
    pub(super) work: Option<usize>,
    /// A step of income, see [`amount`].
    pub(super) income: Option<u64>,
}

pub(super) fn person(model: &CensusModel, rng: &mut Rng) -> Person {
    let age = model.age.draw(rng);
    let sex = usize::from(chance(rng, if age < 65 { 49 } else { 56 }));
    let race = model.race.draw(rng);
    let abroad = chance(rng, if age < 18 { FOREIGN[race] / 4 } else { FOREIGN[race] });
    let birthplace = if abroad {
        let part = model.continent[race].draw(rng);
        model.first_country[part] + model.country[part].draw(rng)
    } else {
        0
    };
    let education = education(model, rng, age, abroad);
    let marital = match age {
        0..15 => SINGLE,
        _ => model.marital[band(age, &[20, 25, 35, 55, 75])][sex].draw(rng),
    };
    let (occupation, work) = work(model, rng, age, sex, education);
    let income = (age >= 15).then(|| income(rng, age, race, education, occupation));
    Person { age, sex, race, marital, education, birthplace, occupation, work, income }
}

fn education(model: &CensusModel, rng: &mut Rng, age: usize, abroad: bool) -> Option<usize> {
    match age {
        0..3 => None,
        3..5 => Some(usize::from(chance(rng, 48))),
        // A child of six is in grade 1, place 3; some are a year behind.
        5..18 => Some(age - 3 - usize::from(chance(rng, 30))),
        18..25 => Some(model.education[0].draw(rng)),
        25..65 => Some(model.education[if abroad { 2 } else { 1 }].draw(rng)),
        _ => Some(model.education[3].draw(rng)),
    }
}

/// The five levels of education that the occupation depends on.
fn schooling(education: usize) -> usize {
    match education {
        ..HIGH_SCHOOL => 0,
        15..17 => 1,
        17..20 => 2,
        20 => 3,
        _ => 4,
    }
}

/// Occupation and class of work.
fn work(
    model: &CensusModel,
    rng: &mut Rng,
    age: usize,
    sex: usize,
    education: Option<usize>,
) -> (Option<usize>, Option<usize>) {
    let Some(education) = education.filter(|_| age >= 16) else { return (None, None) };
    let idle = NOT_WORKING[band(age, &[20, 25, 55, 65, 75])];
    let step = schooling(education);
    // The lower the education, the more often without work.
    if chance(rng, idle + (4 - step as u64) * (100 - idle) / 20) {
        return if chance(rng, 3) { (None, Some(NEVER)) } else { (None, None) };
    }
    let group = model.occupation[step][sex].draw(rng);
    let (.., sector) = OCCUPATIONS[group];
    (Some(group * JOBS_IN_GROUP + model.job.draw(rng)), Some(model.work[sector as usize].draw(rng)))
}

/// The step of an income, see [`amount`].
fn income(
    rng: &mut Rng,
    age: usize,
    race: usize,
    education: Option<usize>,
    occupation: Option<usize>,
) -> u64 {
    const BY_SCHOOLING: [u64; 5] = [13, 19, 23, 34, 48];
    let step = education.map_or(0, schooling);
    let middle = match occupation {
        None if age < 62 => return if chance(rng, 70) { 0 } else { 1 + rng.below(12) },
        None => BY_SCHOOLING[step] / 2 + 3,
        Some(job) => {
            BY_SCHOOLING[step]
                + (job % 5) as u64 * 2
                + if race == 0 || race == ASIAN { 2 } else { 0 }
        }
    };
    let seniority = (age.clamp(18, 50) as u64 - 8) * 10 / 4;
    let middle = middle * seniority / 100 + 1;
    // Two draws give a peak with a long right side; one income in twenty is multiplied.
    let level = (rng.below(middle) + rng.below(middle) + middle) / 2;
    if chance(rng, 5) { level * (2 + rng.below(3)) } else { level }
}

/// One of a hundred amounts: steps of 2,000 up to 100,000, of 5,000 up to 250,000, then of 25,000.
fn amount(level: u64) -> i64 {
    let thousands = match level.min(99) {
        level @ ..=50 => level * 2,
        level @ 51..=80 => 100 + (level - 50) * 5,
        level => 250 + (level - 80) * 25,
    };
    i64::try_from(thousands * 1_000).expect("a small number")
}

pub(super) fn schema() -> SchemaRef {
    let text = |name: &str, nullable| Field::new(name, DataType::Utf8, nullable);
    Arc::new(Schema::new(vec![
        Field::new("age", DataType::Int64, false),
        text("sex", false),
        text("race", false),
        text("marital", false),
        text("education", true),
        text("birthplace", false),
        text("occupation", true),
        text("workclass", true),
        Field::new("income", DataType::Int64, true),
    ]))
}

pub(super) fn batch(seed: u64, first_row: u64, rows: usize) -> RecordBatch {
    let model = &*MODEL;
    let mut age = Int64Builder::with_capacity(rows);
    let mut income = Int64Builder::with_capacity(rows);
    let mut texts: [StringBuilder; 7] =
        std::array::from_fn(|_| StringBuilder::with_capacity(rows, rows * 7));
    for mut rng in row_generators(seed, first_row, rows) {
        let person = person(model, &mut rng);
        age.append_value(i64::try_from(person.age).expect("a small number"));
        texts[0].append_value(SEX[person.sex]);
        texts[1].append_value(RACE[person.race]);
        texts[2].append_value(MARITAL[person.marital]);
        texts[3].append_option(person.education.map(|place| EDUCATION[place]));
        texts[4].append_value(model.birthplaces[person.birthplace]);
        texts[5].append_option(person.occupation.map(|place| &model.jobs[place]));
        texts[6].append_option(person.work.map(|place| WORK[place]));
        income.append_option(person.income.map(amount));
    }
    let mut columns: Vec<ArrayRef> = vec![Arc::new(age.finish())];
    columns.extend(texts.iter_mut().map(|text| Arc::new(text.finish()) as ArrayRef));
    columns.push(Arc::new(income.finish()));
    RecordBatch::try_new(schema(), columns).expect("the columns fit the schema")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn people(rows: u64) -> impl Iterator<Item = Person> {
        row_generators(1, 0, usize::try_from(rows).unwrap()).map(|mut rng| person(&MODEL, &mut rng))
    }

    #[test]
    fn domains_have_the_sizes_of_the_census() {
        let model = &*MODEL;
        assert_eq!(model.jobs.len(), 480);
        let places: BTreeSet<&str> = model.birthplaces.iter().copied().collect();
        assert_eq!(places.len(), model.birthplaces.len(), "a birthplace stands twice");
        assert!((215..=240).contains(&places.len()), "{}", places.len());
        let (mut ages, mut educations, mut jobs, mut incomes) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for person in people(200_000) {
            ages.insert(person.age);
            educations.extend(person.education);
            jobs.extend(person.occupation);
            incomes.extend(person.income.map(amount));
        }
        assert_eq!((ages.len(), educations.len()), (96, 24));
        assert!(jobs.len() > 440, "{}", jobs.len());
        assert!((90..=100).contains(&incomes.len()), "{}", incomes.len());
    }

    #[test]
    fn questions_that_do_not_apply_are_blank() {
        for person in people(20_000) {
            assert_eq!(person.education.is_none(), person.age < 3);
            assert!(person.age >= 16 || (person.occupation.is_none() && person.work.is_none()));
            assert!(person.occupation.is_none() || person.work.is_some_and(|work| work != NEVER));
            assert_eq!(person.income.is_none(), person.age < 15);
            assert!(person.age >= 15 || person.marital == SINGLE);
        }
    }

    #[test]
    fn columns_depend_on_each_other() {
        let (mut school, mut bachelor, mut widowed) = ((0, 0), (0, 0), (0, 0));
        for person in people(100_000).filter(|person| person.age >= 30) {
            let pay = usize::try_from(amount(person.income.unwrap())).unwrap();
            match person.education {
                Some(HIGH_SCHOOL) => school = (school.0 + pay, school.1 + 1),
                Some(20) => bachelor = (bachelor.0 + pay, bachelor.1 + 1),
                _ => {}
            }
            if person.marital == 1 {
                widowed = (widowed.0 + person.age, widowed.1 + 1);
            }
        }
        assert!(bachelor.0 / bachelor.1 > school.0 / school.1 * 3 / 2);
        assert!(widowed.0 / widowed.1 > 65);
    }

    #[test]
    fn of_a_million_rows_a_fifth_to_a_third_are_unique_and_a_csv_row_is_short() {
        let mut counts: BTreeMap<_, u32> = BTreeMap::new();
        for p in people(1_000_000) {
            let tuple =
                (p.age, p.sex, p.race, p.marital, p.education, p.birthplace, p.occupation, p.work);
            *counts.entry(tuple).or_default() += 1;
        }
        let uniques = counts.values().filter(|&&count| count == 1).count();
        assert!(
            (200_000..333_000).contains(&uniques),
            "{uniques} unique, {} distinct",
            counts.len()
        );
        let table = batch(1, 0, 10_000);
        let text = crate::testing::csv(&table);
        assert!((45..=60).contains(&(text.len() / 10_000)), "{}", text.len());
    }
}
