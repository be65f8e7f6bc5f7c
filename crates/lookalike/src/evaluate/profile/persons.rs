//! Are rows persons? Classes count rows. Where a column that identifies persons has one value in
//! several rows, k rows may belong to fewer than k persons, and the user must be warned.

use rustc_hash::FxHashSet;

use super::words::{self as lists, find, words};
use super::{ColumnProfile, roles};
use crate::domain::parse::spelling;
use crate::error::{Hint, Warning};
use crate::request::{Kind, Request, Role};
use crate::table::{Coded, DistinctCount, Table};

/// Words in the names of columns that number persons, whatever other words there are. A case
/// (`Fallnummer`, `dossier`) is none: one person may have several.
const KEY: &str = "\
    accountnumber bankaccount creditcard driverlicense driverslicense email emailaddress guid iban \
    insurancenumber login mail medicalrecordnumber mrn nationalid nhs nhsnumber nino passport \
    passportnumber patientid personid pseudonym socialsecurity socialsecurityno \
    socialsecuritynumber ssn subjid taxid uid username uuid \
    patientennummer patientennr patientenid patientenkennung patnr patnummer patid \
    versichertennummer versichertennr krankenversichertennummer versicherungsnummer \
    sozialversicherungsnummer personalnummer personalausweis kundennummer kundennr \
    mitarbeiternummer probandennummer teilnehmernummer kontonummer steuernummer \
    numerosecuritesociale nir numeropatient numerodepatient idpatient identifiantpatient \
    numeroclient dni nie nif idpaciente numeropaciente numerodepaciente codigopaciente \
    codicefiscale codicepaziente idpaziente numeropaziente \
    bsn burgerservicenummer patientnummer patientnr persoonsnummer personnummer clientnummer klantnummer \
    cpf numeroutente idutente numerodoutente codigoutente pesel idpacjenta numerpacjenta kodpacjenta";

/// Whole names: two persons may share one, but not most of a table.
const NAME: &str = "fullname name personname";

/// Words for values that several persons often share.
const SHARED: &str = "\
    address birthname cellphone city comment description familyname fax firstname forename \
    freetext givenname initials ip ipaddress lastname maidenname memo message middlename mobile \
    narrative nickname note phone phonenumber photo remark street streetaddress surname tel \
    telephone title url \
    vorname nachname familienname zuname geburtsname telefon handy anschrift strasse hausnummer \
    prenom nomdefamille portable rue apellido apellidos telefono movil direccion calle \
    cognome cellulare indirizzo voornaam achternaam telefoon mobiel adres straat huisnummer \
    sobrenome apelido telefone telemovel morada endereco rua imie nazwisko ulica";

/// Words for given names: beside one of them `name` is a surname, which many persons share.
const GIVEN_NAME: &str = "\
    firstname forename givenname vorname rufname prenom nombredepila primernombre voornaam imie";

/// The most columns that are counted: each takes time.
const MOST_COLUMNS: usize = 8;

/// A column of at most so many values does not number persons.
const FEW_VALUES: u64 = 10;
/// Nor does a column of a few hundred values with more rows each than this.
const MANY_ROWS: u64 = 10;

/// How certain it is that a value of a column identifies one person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identifies {
    Surely,
    Mostly,
    Perhaps,
    Not,
}

fn identifies(name: &str) -> Identifies {
    let words = words(name);
    let has = |list| find(&words, list).is_some();
    let is_number = || has(lists::NUMBERING) && (words.len() == 1 || has(lists::PERSON));
    if has(SHARED) {
        Identifies::Not
    } else if has(KEY) || is_number() || (words.len() == 1 && has(lists::PERSON)) {
        Identifies::Surely
    } else if has(lists::WHEN) || has(lists::QUASI) || has(lists::SENSITIVE) {
        // A date or a place that was dropped because it nearly identifies a person.
        Identifies::Not
    } else if has(NAME) && words.len() == 1 {
        Identifies::Mostly
    } else {
        Identifies::Perhaps
    }
}

/// The columns whose values should be counted although they are not published: identifiers, and
/// columns without a line whose name says that they number persons. The most certain first, at most
/// eight. None where rows stand for several: a value in one row says nothing about persons. None
/// where the request has a person key: then persons are counted.
pub fn person_columns(names: &[String], request: &Request) -> Vec<String> {
    if request.count.is_some() || request.has_persons() {
        return Vec::new();
    }
    let mut found: Vec<(Identifies, &String)> = Vec::new();
    let has_given_name = names.iter().any(|name| is_given_name(name));
    for name in names.iter().filter(|name| !(has_given_name && is_name(name))) {
        let identifies = identifies(name);
        let is_counted = match request.column(name).map(|line| line.role) {
            Some(Role::Identifier) => identifies != Identifies::Not,
            Some(_) => false,
            None => identifies == Identifies::Surely,
        };
        if is_counted {
            found.push((identifies, name));
        }
    }
    found.sort_by_key(|(identifies, _)| *identifies);
    found.into_iter().take(MOST_COLUMNS).map(|(_, name)| name.clone()).collect()
}

/// The warning that rows are not persons, if the counts of this column call for it.
pub fn repeated_persons(counted: &DistinctCount) -> Option<Warning> {
    let DistinctCount { name, present, distinct, is_exact } = counted;
    let identifies = identifies(name);
    let repeats = match identifies {
        Identifies::Surely => repeats_surely(*distinct, *present),
        Identifies::Mostly => distinct * 2 <= *present && !is_of_groups(*distinct, *present),
        Identifies::Perhaps => {
            *distinct > FEW_VALUES
                && distinct * 10 <= present * 9
                && !is_of_groups(*distinct, *present)
        }
        Identifies::Not => false,
    };
    let about = if *is_exact { "" } else { "about " };
    let condition =
        if identifies == Identifies::Surely { "" } else { "if each stands for one person, " };
    repeats.then(|| {
        let reason = format!(
            "rows are counted, not persons: column `{name}` has {about}{} different values in {} \
             rows; {condition}the rows of a class may all be those of one person, who is then not \
             hidden among others",
            thousands(*distinct),
            thousands(*present)
        );
        Warning::new("rows-not-persons", reason)
            .about_column(name)
            .hint(Hint::NamePerson { column: name.clone() })
            .hint(Hint::plain("keep one row a person"))
            .hint(Hint::plain("read every k here as a number of rows"))
    })
}

/// Warnings for person keys that count as several persons and are probably one: they differ only in
/// their spelling. Then k persons may be fewer.
pub fn similar_persons<'a>(
    table: &Table,
    keys: impl IntoIterator<Item = &'a String>,
) -> Vec<Warning> {
    let warning = |name: &String| {
        let similar = similar_keys(table.column(name)?.coded.as_ref()?);
        let differ = if similar == 1 { "value differs" } else { "values differ" };
        let reason = format!(
            "column `{name}`: {} {differ} from another only by case, by blanks around it or by the \
             spelling of a number, and each is taken for a person of its own: a class may have fewer \
             than k persons",
            thousands(similar)
        );
        let warning = Warning::new("similar-values", reason).about_column(name);
        (similar > 0).then(|| warning.hint(Hint::plain("use one spelling in the source")))
    };
    keys.into_iter().filter_map(warning).collect()
}

/// How many keys are another spelling of a key before them: `a-1` of `A-1`, `001` of `1`.
fn similar_keys(keys: &Coded) -> u64 {
    // The values of a coded column are distinct.
    let mut seen = FxHashSet::default();
    let fold = |key: &String| spelling(Kind::Numeric, &key.trim().to_lowercase());
    keys.values().iter().flatten().filter(|key| !seen.insert(fold(key))).count() as u64
}

/// True for few values with many rows each: those of a hospital or a region, or names that many have.
fn is_of_groups(distinct: u64, present: u64) -> bool {
    present / distinct.max(1) > MANY_ROWS && distinct <= roles::FEW_VALUES
}

/// True for a column of given names alone.
fn is_given_name(name: &str) -> bool {
    find(&words(name), GIVEN_NAME).is_some()
}

/// True for a column that is called `Name` and nothing else.
fn is_name(name: &str) -> bool {
    identifies(name) == Identifies::Mostly
}

/// True when rows share a value of a column whose values are persons. A table of persons may have
/// an entry twice by mistake.
fn repeats_surely(distinct: u64, present: u64) -> bool {
    distinct * 100 < present * 99
}

/// Suggests the person key: of the identifiers that surely name persons, have a value in every row
/// and repeat, the one with a word for people in its name, then the one with the fewest values.
pub(super) fn suggest_key(profiles: &mut [ColumnProfile]) {
    let is_key = |profile: &&mut ColumnProfile| {
        profile.role == Role::Identifier
            && profile.missing == 0
            && profile.distinct > FEW_VALUES
            && identifies(&profile.name) == Identifies::Surely
            && repeats_surely(profile.distinct, profile.rows)
    };
    let is_of_people = |name: &str| find(&words(name), lists::PERSON).is_some();
    let best = profiles
        .iter_mut()
        .filter(is_key)
        .min_by_key(|profile| (!is_of_people(&profile.name), profile.distinct));
    if let Some(profile) = best {
        profile.role = Role::Person;
        profile.reason = format!(
            "{} different values in {} rows: several rows a person",
            thousands(profile.distinct),
            thousands(profile.rows)
        );
    }
}

/// The warnings for a profiled table; none where it has a person key.
pub fn repeated_in(profiles: &[ColumnProfile]) -> Vec<Warning> {
    if profiles.iter().any(|profile| profile.role == Role::Person) {
        return Vec::new();
    }
    let counted = |profile: &ColumnProfile| DistinctCount {
        name: profile.name.clone(),
        present: profile.rows - profile.missing,
        distinct: profile.distinct,
        is_exact: true,
    };
    let has_given_name = profiles.iter().any(|profile| is_given_name(&profile.name));
    let identifiers = profiles.iter().filter(|profile| {
        profile.role == Role::Identifier && !(has_given_name && is_name(&profile.name))
    });
    identifiers.filter_map(|profile| repeated_persons(&counted(profile))).collect()
}

/// `30,162`
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or(""))
        .collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &str, distinct: u64, present: u64) -> Option<String> {
        let counted = DistinctCount { name: name.into(), present, distinct, is_exact: true };
        repeated_persons(&counted).map(|warning| warning.to_string())
    }

    #[test]
    fn a_key_that_repeats_is_warned_of() {
        let said = said("patient_id", 400, 2_000).unwrap();
        assert!(
            said.starts_with(
                "rows are counted, not persons: column `patient_id` has 400 \
                different values in 2,000 rows;"
            ),
            "{said}"
        );
        assert!(!said.contains("if each"), "{said}");
        assert!(said.contains("give column `patient_id` the role `person`"), "{said}");
    }

    fn profiled(name: &str, distinct: u64, missing: u64) -> ColumnProfile {
        ColumnProfile {
            name: name.into(),
            rows: 2_000,
            missing,
            distinct,
            unique_share: 0.0,
            looks: crate::request::Kind::Categorical,
            role: Role::Identifier,
            reason: String::new(),
            keys: None,
            hint: None,
            is_open: false,
            rank: None,
            unique_others: None,
            unique_together: None,
            group: 0,
            commonest: 0,
        }
    }

    #[test]
    fn one_identifier_that_repeats_is_the_person_key() {
        for (columns, key) in [
            (&[("patient_id", 400, 0)][..], Some(0)),
            (&[("patient_id", 2_000, 0)], None),
            (&[("patient_id", 400, 3)], None),
            (&[("patient_id", 10, 0)], None),
            (&[("token", 400, 0)], None),
            (&[("first_name", 400, 0), ("mrn", 500, 0)], Some(1)),
            (&[("mrn", 300, 0), ("patient_id", 400, 0), ("email", 200, 0)], Some(1)),
            (&[("mrn", 300, 0), ("email", 200, 0)], Some(1)),
        ] {
            let mut profiles: Vec<ColumnProfile> = columns
                .iter()
                .map(|&(name, distinct, gone)| profiled(name, distinct, gone))
                .collect();
            suggest_key(&mut profiles);
            let found: Vec<usize> =
                (0..profiles.len()).filter(|&at| profiles[at].role == Role::Person).collect();
            assert_eq!(found, key.into_iter().collect::<Vec<_>>(), "{columns:?}");
            assert!(key.is_none() || repeated_in(&profiles).is_empty());
        }
        let mut profiles = [profiled("patient_id", 400, 0)];
        suggest_key(&mut profiles);
        assert_eq!(profiles[0].reason, "400 different values in 2,000 rows: several rows a person");
    }

    #[test]
    fn persons_are_numbered_in_eight_languages() {
        for name in [
            "Patientennummer",
            "Patienten-ID",
            "PatNr",
            "Pat-Nr",
            "Patientennr",
            "Versichertennummer",
            "numéro patient",
            "ID paciente",
            "codice_paziente",
            "patientnummer",
            "personnummer",
            "numero_utente",
            "ID Pacjenta",
            "patient_id",
        ] {
            let mut csv = format!("{name},age\n");
            (0..400).for_each(|row| csv += &format!("P{},{}\n", row % 80, 20 + row % 80 % 50));
            let profiles = crate::evaluate::profile::profile(&crate::testing::table(&csv));
            assert_eq!(profiles[0].role, Role::Person, "{name}");
        }
        // A case is not a person: one may have several. It is not published either.
        let mut csv = "Fallnummer,age\n".to_string();
        (0..400).for_each(|row| csv += &format!("F{},{}\n", row % 80, 20 + row % 80 % 50));
        let profiles = crate::evaluate::profile::profile(&crate::testing::table(&csv));
        assert_eq!(profiles[0].role, Role::Identifier);
    }

    #[test]
    fn a_name_beside_a_given_name_is_a_surname() {
        let csv = |names: &str| {
            let mut csv = format!("{names},age\n");
            (0..900).for_each(|row| csv += &format!("N{},V{},{}\n", row % 300, row % 11, row % 50));
            repeated_in(&crate::evaluate::profile::profile(&crate::testing::table(&csv)))
        };
        assert!(csv("Name,Vorname").is_empty());
        assert_eq!(csv("Name,Station").len(), 1);
        let request = Request::parse("columns.Name.role = 'identifier'").unwrap();
        let names = ["Name", "Vorname"].map(String::from);
        assert!(person_columns(&names, &request).is_empty());
        assert_eq!(person_columns(&names[..1], &request), ["Name"]);
    }

    #[test]
    fn values_that_several_persons_share_give_no_warning() {
        for (name, distinct, present, repeats) in [
            ("patient_id", 2_000, 2_000, false),
            ("patient_id", 1_900, 2_000, true),
            ("id", 100, 2_000, true),
            ("name", 1_700, 2_000, false),
            ("name", 400, 2_000, true),
            ("Name", 56, 5_000, false),
            ("Fallnummer", 400, 2_000, true),
            ("Nachname", 400, 2_000, false),
            ("first_name", 400, 2_000, false),
            ("phone", 1_000, 2_000, false),
            ("hospital_code", 3, 2_000, false),
            ("admission", 700, 2_000, false),
            ("ward_id", 40, 2_000, false),
            ("pid", 20, 100, true),
            ("token", 400, 2_000, true),
            ("Versichertennummer", 400, 2_000, true),
        ] {
            assert_eq!(said(name, distinct, present).is_some(), repeats, "{name} {distinct}");
        }
        assert_eq!(thousands(1_234_567), "1,234,567");
    }

    #[test]
    fn identifiers_are_counted_and_columns_that_number_persons() {
        let request = Request::parse(
            "[columns]\nage = { role = \"quasi\" }\nsurname = { role = \"identifier\" }\nx = { \
             role = \"identifier\" }\nuser = { role = \"keep\" }",
        );
        let names = ["x", "age", "surname", "patient_id", "user", "note", "ward"].map(String::from);
        let request = request.unwrap();
        assert_eq!(person_columns(&names, &request), ["patient_id", "x"]);
        assert!(person_columns(&names, &request.person(["patient_id"])).is_empty());
    }
}
