//! Which role a column probably has, from the words in its name and from how its values repeat.

use crate::request::{Kind, Role};

/// Numbers of a column, for the guess of its role.
pub(super) struct ColumnFacts {
    pub(super) rows: u64,
    pub(super) missing: u64,
    pub(super) distinct: u64,
    /// Values that only one row has.
    pub(super) alone: u64,
    /// Rows with the most frequent value, which may be the missing one.
    pub(super) commonest: u64,
    pub(super) looks: Kind,
    /// Every row has a number above 0.
    pub(super) is_positive: bool,
    /// No scale for persons shows such values: three decimals, and some below 1 or above 1,000.
    pub(super) is_no_scale: bool,
    /// Of dates: their calendar days are in the order of time, as a hierarchy of months and years
    /// needs.
    pub(super) has_calendar: bool,
}

/// Words that identify a person, whatever other words there are.
const IDENTIFIER: &str = "\
    accountnumber bankaccount birthname cellphone creditcard driverlicense driverslicense email \
    emailaddress familyname fax firstname forename fullname givenname guid iban insurancenumber ip \
    ipaddress lastname licenceplate licenseplate login maidenname mail medicalrecordnumber \
    middlename mobile mrn nationalid nhs nhsnumber nickname nino passport passportnumber patientid \
    personid personname phone phonenumber photo socialsecurity socialsecurityno \
    socialsecuritynumber ssn streetaddress surname taxid tel telephone uid url username uuid vin";

/// Words for the time of an event or the age of a person, which are easily joined with outside
/// data.
pub(super) const WHEN: &str = "\
    age agep birth birthdate birthday birthyear born date dateofbirth datetime dob timestamp";

/// Words for values that must not be inferred.
pub(super) const SENSITIVE: &str = "\
    abortion abuse addiction alcohol allergy arrest asset balance biomarker bmi bonus cancer \
    capital cause charge cholesterol claim clinical comorbidity complication condition conviction \
    cost credit crime criminal death debt default diabetes diagnose diagnoses diagnosis diagnostic \
    dis disability disabled disease disorder dosage dose drg drug dx earning earnings expense \
    finding fine genotype glucose grade health hicov hiv icd illness impairment income infection \
    injury insurance intelligence iq lab loan loss medication medicine mortality mutation offence \
    offense opinion orientation outcome payment penalty pension pincp poverty pregnancy pregnant \
    premium prescription price prison procedure prognosis psychiatric result revenue risk salary \
    score sentence severity sexuality smoker smoking spending suicide surgery survival symptom \
    target tax test therapy toxicology treatment vaccination vaccine verdict violation vote wage \
    wages wagp wealth";

/// Words for values that others may know.
pub(super) const QUASI: &str = "\
    admission admitted ancestry area birthplace block borough branch building canton car caste \
    child children cit citizen citizenship city class commune community commute company country \
    countryofbirth county cow degree department dept discharge district domicile educ education \
    employer employment esr ethnic ethnicity eyecolor eyes faith family gender geo hair height \
    hisp hispanic home hometown hour hours household housing immigration indp industry job kids \
    language lat latitude length locality location lon long longitude major mar marital \
    maritalstatus married marstat mil military month mothertongue municipality nation nationality \
    native neighborhood neighbourhood occp occupation occupational origin owner parish place pob \
    pobp position postal postalcode postcode profession province puma rac race region relation \
    relationship religion religious rent residence residential rural schl school schooling sector \
    sex siblings spouse state stateofbirth station tenure title town tract transport tribe unit \
    university urban vehicle veteran village visit weight wkhp work workclass year yearofbirth zip \
    zipcode zone";

/// Words that often identify a person, but not beside a word of another list (`country name`,
/// `diagnosis id`).
const PERHAPS_IDENTIFIER: &str = "\
    account address barcode card case code contact fingerprint handle hash id ident identifier \
    identity index key licence license name no nr number password pin record recordnumber row \
    rowid sequence serial serialno signature street token";

/// Those of them that number things: `claim id`, `visit no`. With many values, the number
/// identifies the row.
pub(super) const NUMBERING: &str = "id ident identifier key no nr number record serial";

/// Words for people, which number them when there is no other word.
pub(super) const PERSON: &str = "\
    client customer employee member participant patient person respondent student subject user";

/// Quasi-identifiers whose numbers, if they have any, are codes and not amounts.
const NOMINAL: &str = "\
    ancestry area birthplace borough canton cit citizenship city commune country county cow \
    department district employment esr ethnicity gender hisp hispanic indp industry job language \
    location mar marital maritalstatus mil military municipality nationality occp occupation \
    origin place pob pobp position profession province puma rac race region relation relationship \
    religion sector sex state tract tribe workclass";

/// Words for free texts.
const FREE_TEXT: &str = "comment description freetext memo message narrative note remark";

/// Words for the sampling weight of a survey. Many are names of the column in well-known surveys:
/// `fnlwgt` (Adult), `pwgtp` (ACS), `perwt` (IPUMS), `wtfinl` (CPS), `anweight` (ESS).
const SAMPLING_WEIGHT: &str = "\
    anweight asecwt calibrationweight caseweight designweight dweight expansionfactor finalweight \
    finalwgt finalwt finlwt fnlwgt grossingfactor hhwt hochrechnungsfaktor hwgt instanceweight \
    perwt personweight popweight populationweight pspwght pweight pwght pwgt pwgtp respondentweight \
    sampleweight samplewt samplingweight statisticalweight surveyweight surveywgt surveywt wgtp \
    wtfinl wtint wtmec";

/// Words that make a weight one of bodies and things.
const BODY: &str = "\
    baby birth body cargo child current dry fetal goal gross kg lb lbs maternal net patient \
    pregnancy previous target usual vehicle";

/// A survey's weight by the name of the column: where rows have positive numbers, and a bare
/// `weight` only with values that no scale shows.
fn is_sampling_weight(words: &[String], facts: &ColumnFacts) -> Option<&'static str> {
    let bare = || find(words, "weight wgt wt weighting").filter(|_| facts.is_no_scale);
    let bare = || bare().filter(|_| find(words, BODY).is_none());
    let word = find(words, SAMPLING_WEIGHT).or_else(bare)?;
    (facts.is_positive && facts.missing == 0 && different(facts) > 1).then_some(word)
}

/// The role, the reason, and a further key for the column's line.
pub(super) fn suggest(name: &str, facts: &ColumnFacts) -> (Role, String, Option<String>) {
    let words = words(name);
    let (role, reason) = by_name(&words, facts).unwrap_or_else(|| by_values(facts));
    let hint = match role {
        Role::Quasi => quasi_hint(name, &words, facts),
        // A rule on shares that leaves the search some room; where one value dominates the table,
        // at least a second one is required.
        Role::Sensitive if facts.commonest * 5 <= facts.rows * 2 => Some("alpha = 0.5".to_string()),
        Role::Sensitive if different(facts) > 1 => Some("distinct = 2".to_string()),
        Role::Sensitive => None,
        Role::Identifier | Role::Keep | Role::Person | Role::Weight => None,
    };
    (role, reason, hint)
}

fn by_name(words: &[String], facts: &ColumnFacts) -> Option<(Role, String)> {
    let found = |list| find(words, list);
    if let Some(word) = is_sampling_weight(words, facts) {
        return Some((
            Role::Weight,
            format!(
                "\"{word}\" in its name, and positive numbers: the sampling weight of a survey, \
                 published as it is"
            ),
        ));
    }
    if let Some(word) = found(IDENTIFIER) {
        return Some((Role::Identifier, format!("\"{word}\" in its name points at one person")));
    }
    if let Some(word) = found(FREE_TEXT).filter(|_| facts.looks == Kind::Categorical) {
        return Some((
            Role::Identifier,
            format!("\"{word}\" in its name: a free text may name a person"),
        ));
    }
    // "number of tickets" counts something, it numbers nothing.
    let counts = words.windows(2).any(|pair| pair[0] == "number" && pair[1] == "of");
    let many = facts.distinct > FEW_VALUES || hardly_repeats(facts);
    if let Some(word) = found(NUMBERING).filter(|_| many && !counts && facts.looks != Kind::Date) {
        return Some((
            Role::Identifier,
            format!("\"{word}\" in its name, and many values: it numbers persons or events"),
        ));
    }
    if let Some(word) = found(WHEN) {
        return Some((
            Role::Quasi,
            format!("\"{word}\" in its name: others may know it{}", counted(facts)),
        ));
    }
    if let Some(word) = found(SENSITIVE) {
        return Some(sensitive(word, facts));
    }
    if let Some(word) = found(QUASI) {
        return Some((
            Role::Quasi,
            format!("\"{word}\" in its name: others may know it{}", counted(facts)),
        ));
    }
    if counts {
        return None;
    }
    let alone = if words.len() == 1 { found(PERSON) } else { None };
    let word = found(PERHAPS_IDENTIFIER).or(alone)?;
    Some((Role::Identifier, format!("\"{word}\" in its name may point at one person")))
}

/// Words for what a person is called, unless a word beside them says that it is something else
/// (`country name`).
const NAMING: &str = "address contact name signature street";

/// The word in a column's name that says that it names persons.
pub(in crate::evaluate) fn person_word(name: &str) -> Option<&'static str> {
    let words = words(name);
    let is_other = [WHEN, SENSITIVE, QUASI].iter().any(|list| find(&words, list).is_some());
    find(&words, IDENTIFIER).or_else(|| find(&words, NAMING).filter(|_| !is_other))
}

/// A column with a sensitive name: it is published unchanged, so it must not identify persons.
fn sensitive(word: &str, facts: &ColumnFacts) -> (Role, String) {
    let own_values = facts.rows >= MANY && hardly_repeats(facts);
    match facts.looks {
        Kind::Date => (
            Role::Quasi,
            format!(
                "\"{word}\" in its name, but it holds dates, which others may know{}",
                counted(facts)
            ),
        ),
        Kind::Categorical | Kind::Ordinal if own_values => (
            Role::Identifier,
            format!(
                "\"{word}\" in its name, but few rows share a text, so it would point at one person"
            ),
        ),
        _ if own_values => (
            Role::Sensitive,
            format!(
                "\"{word}\" in its name; few rows share a number: consider rounding it before \
                 publishing"
            ),
        ),
        _ => (Role::Sensitive, format!("\"{word}\" in its name{}", counted(facts))),
    }
}

/// The least number of rows for a guess by counts.
const MANY: u64 = 50;
/// The most values of a column of codes or labels.
pub(super) const FEW_VALUES: u64 = 200;

/// Nearly every row has its own value, or hardly two rows share one.
fn hardly_repeats(facts: &ColumnFacts) -> bool {
    let present = facts.rows - facts.missing;
    (present > 0 && facts.alone * 10 >= present * 9)
        || (facts.distinct > FEW_VALUES && facts.distinct * 2 > present)
}

fn by_values(facts: &ColumnFacts) -> (Role, String) {
    if different(facts) <= 1 {
        return (Role::Keep, "every row has the same value".to_string());
    }
    let counted = counted(facts);
    match facts.looks {
        Kind::Date => (
            Role::Quasi,
            format!(
                "dates: others may know when something \
            happened{counted}"
            ),
        ),
        Kind::Numeric if hardly_repeats(facts) => (
            Role::Identifier,
            "hardly two rows share a number, so it works like a fingerprint; if it is a \
             measurement, generalize it (quasi)"
                .to_string(),
        ),
        Kind::Categorical | Kind::Ordinal if hardly_repeats(facts) => {
            (Role::Identifier, "nearly every row has its own value".to_string())
        }
        Kind::Categorical | Kind::Ordinal
            if facts.distinct > FEW_VALUES && facts.distinct * 5 > facts.rows =>
        {
            (Role::Identifier, format!("text that few rows share{counted}"))
        }
        _ => (Role::Quasi, format!("name not recognised, so taken as known to others{counted}")),
    }
}

/// The number of distinct values, the missing one included.
fn different(facts: &ColumnFacts) -> u64 {
    facts.distinct + u64::from(facts.missing > 0)
}

fn counted(facts: &ColumnFacts) -> String {
    let values = if facts.distinct == 1 { "value" } else { "values" };
    let missing =
        if facts.missing > 0 { format!(", {} missing", facts.missing) } else { String::new() };
    format!(" ({} {values}{missing})", facts.distinct)
}

fn quasi_hint(name: &str, words: &[String], facts: &ColumnFacts) -> Option<String> {
    let file = || {
        let plain: String =
            name.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
        format!("hierarchy = \"{plain}.csv\"")
    };
    match facts.looks {
        Kind::Date => {
            facts.has_calendar.then(|| "hierarchy = { date = [\"month\", \"year\"] }".to_string())
        }
        _ if find(words, "zip zipcode postcode postal postalcode").is_some() => {
            Some("hierarchy = { prefix = [4, 3, 2] }".to_string())
        }
        Kind::Numeric if find(words, "age agep").is_some() => {
            Some("hierarchy = { intervals = [5, 10, 20] }".to_string())
        }
        // Codes have an order, their meanings have none.
        Kind::Numeric if find(words, NOMINAL).is_some() => {
            Some("kind = \"categorical\"".to_string())
        }
        Kind::Numeric => None,
        _ if find(words, "education degree schooling schl educ").is_some() => {
            Some("order = [\"the lowest level\", \"...\", \"the highest level\"]".to_string())
        }
        Kind::Categorical | Kind::Ordinal if facts.distinct > 5 => Some(file()),
        Kind::Categorical | Kind::Ordinal => None,
    }
}

/// The first word of the list that the name contains, also across its blanks and dashes (`first
/// name` is `firstname`), also in the plural.
pub(super) fn find(words: &[String], list: &'static str) -> Option<&'static str> {
    let runs = (0..words.len()).flat_map(|from| {
        (from + 1..=words.len().min(from + 4)).map(move |to| words[from..to].concat())
    });
    let runs: Vec<String> = runs.collect();
    let is = |run: &String, word: &str| run == word || run.strip_suffix('s') == Some(word);
    list.split_whitespace().find(|word| runs.iter().any(|run| is(run, word)))
}

/// The words of a column's name in lower case: cut at everything but letters and between
/// `camelCase` humps (`HIVStatus` too).
pub(super) fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (i, &c) in letters.iter().enumerate() {
        let after_small = i > 0 && letters[i - 1].is_lowercase();
        let before_small = letters.get(i + 1).is_some_and(|next| next.is_lowercase());
        let hump = c.is_uppercase()
            && i > 0
            && (after_small || (letters[i - 1].is_uppercase() && before_small));
        if hump || !c.is_alphabetic() {
            words.push(String::new());
        }
        if c.is_alphabetic() {
            words.last_mut().expect("never empty").extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
