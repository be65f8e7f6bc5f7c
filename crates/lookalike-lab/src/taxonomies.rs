//! The taxonomies of Adult, which the UCI files bring none of. Each line is a path from below the
//! root, a colon, and the values there.

use std::fmt::Write;

/// Which tree goes with which column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Of Xu et al. 2006: two trees, everything else flat.
    Utility,
    /// After those that most later work uses; Li and Li and Wong et al. do not print theirs.
    Usual,
}

/// The levels of education, least first.
pub(crate) const EDUCATION: [&str; 16] = [
    "Preschool",
    "1st-4th",
    "5th-6th",
    "7th-8th",
    "9th",
    "10th",
    "11th",
    "12th",
    "HS-grad",
    "Some-college",
    "Assoc-voc",
    "Assoc-acdm",
    "Bachelors",
    "Masters",
    "Prof-school",
    "Doctorate",
];

const UTILITY: [(&str, &str); 2] = [
    (
        "workclass",
        "Government: State-gov, Local-gov, Federal-gov
         Private: Private
         Self-employed: Self-emp-inc, Self-emp-not-inc
         Unemployed: Without-pay, Never-worked",
    ),
    (
        "marital-status",
        "Married: Married-civ-spouse, Married-AF-spouse, Married-spouse-absent
         Single: Divorced, Separated, Widowed, Never-married",
    ),
];

const USUAL: [(&str, &str); 8] = [
    (
        "workclass",
        "Non-Government: Private, Self-emp-not-inc, Self-emp-inc
         Government: Federal-gov, Local-gov, State-gov
         Unemployed: Without-pay, Never-worked",
    ),
    (
        "education",
        "Primary education/Primary School: Preschool, 1st-4th, 5th-6th
         Secondary education/High School: 7th-8th, 9th, 10th, 11th, 12th, HS-grad
         Higher education/Undergraduate: Some-college, Bachelors
         Higher education/Professional Education: Assoc-voc, Assoc-acdm, Prof-school
         Higher education/Graduate: Masters, Doctorate",
    ),
    (
        "marital-status",
        "spouse present: Married-civ-spouse, Married-AF-spouse
         spouse not present: Divorced, Never-married, Separated, Widowed, Married-spouse-absent",
    ),
    (
        "occupation",
        "Technical: Tech-support, Craft-repair, Prof-specialty, Machine-op-inspct
         Nontechnical: Sales, Exec-managerial, Handlers-cleaners
         Other: Other-service, Adm-clerical, Farming-fishing, Transport-moving, Priv-house-serv, Protective-serv, Armed-Forces",
    ),
    ("race", ": White, Black, Asian-Pac-Islander, Amer-Indian-Eskimo, Other"),
    ("sex", ": Male, Female"),
    (
        "native-country",
        "North America: United-States, Canada, Mexico, Puerto-Rico, Outlying-US(Guam-USVI-etc), Cuba, Jamaica, Haiti, \
                        Dominican-Republic, Honduras, Guatemala, El-Salvador
         South America: Ecuador, Columbia, Peru, Nicaragua, Trinadad&Tobago
         Europe: England, Germany, Greece, Italy, Poland, Portugal, Ireland, France, Hungary, Scotland, Yugoslavia, Holand-Netherlands
         Asia: Cambodia, India, Japan, China, Iran, Philippines, Vietnam, Laos, Taiwan, Thailand, Hong
         Africa: South",
    ),
    ("salary-class", ": >50K, <=50K"),
];

/// The tree of a column as a hierarchy file; none when it is flat without one, or not a column of
/// categories.
pub(crate) fn file(family: Family, column: &str) -> Option<String> {
    let trees: &[(&str, &str)] = match family {
        Family::Utility => &UTILITY,
        Family::Usual => &USUAL,
    };
    let (_, tree) = trees.iter().find(|(name, _)| *name == column)?;
    let mut text = String::new();
    for line in tree.lines() {
        let (path, values) = line.split_once(':')?;
        let path: String = path
            .trim()
            .rsplit('/')
            .filter(|label| !label.is_empty())
            .map(|label| format!("{label};"))
            .collect();
        for value in values.split(',') {
            writeln!(text, "{};{path}*", value.trim()).expect("a string takes everything");
        }
    }
    Some(text)
}

/// Ages below intervals of 5, 10 and 20 years, the first of which begins at `origin`.
pub(crate) fn ages(from: u32, to: u32, origin: u32) -> String {
    let line = |age: u32| {
        format!(
            "{age};{};{};{};*\n",
            interval(age, 5, origin),
            interval(age, 10, origin),
            interval(age, 20, origin)
        )
    };
    (from..=to).map(line).collect()
}

/// The fifteen intervals of five years, from 16-20 to 86-90, below intervals of 10 and 20 years.
pub(crate) fn five_years() -> String {
    let line = |age: u32| {
        format!("{};{};{};*\n", interval(age, 5, 1), interval(age, 10, 1), interval(age, 20, 1))
    };
    (16..=86).step_by(5).map(line).collect()
}

/// The interval of so many years that an age is in.
pub(crate) fn interval(age: u32, years: u32, origin: u32) -> String {
    let first = (age.saturating_sub(origin)) / years * years + origin;
    format!("[{first}-{}]", first + years - 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn paths_become_lines_from_the_value_to_the_root() {
        let text = file(Family::Usual, "education").unwrap();
        assert!(text.contains("Masters;Graduate;Higher education;*\n"), "{text}");
        assert_eq!(text.lines().count(), 16);
        assert_eq!(file(Family::Usual, "sex").unwrap(), "Male;*\nFemale;*\n");
        assert_eq!(file(Family::Utility, "race"), None);
        assert_eq!(five_years().lines().count(), 15);
        assert!(
            five_years().starts_with("[16-20];[11-20];[1-20];*\n")
                && five_years().ends_with("[86-90];[81-90];[81-100];*\n")
        );
        let levels: BTreeSet<&str> = EDUCATION.into_iter().collect();
        let leaves: BTreeSet<&str> =
            text.lines().filter_map(|line| line.split(';').next()).collect();
        assert_eq!(levels, leaves);
    }

    /// The folder of the files that these trees must agree with, where they are at hand.
    fn files() -> Option<PathBuf> {
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
        let folder =
            std::env::var_os("LOOKALIKE_DATA").map_or(beside, PathBuf::from).join("hierarchies");
        if folder.is_dir() {
            return Some(folder);
        }
        eprintln!(
            "skipped: no hierarchies at {}; set LOOKALIKE_DATA to the folder above",
            folder.display()
        );
        None
    }

    #[test]
    fn they_say_the_same_as_the_files() {
        let Some(folder) = files() else { return };
        let lines = |text: &str| text.lines().map(str::to_string).collect::<BTreeSet<String>>();
        let is_file = |text: &str, path: &str| {
            assert_eq!(
                lines(text),
                lines(&std::fs::read_to_string(folder.join(path)).unwrap()),
                "{path}"
            );
        };
        for (column, _) in USUAL {
            is_file(&file(Family::Usual, column).unwrap(), &format!("adult/{column}.csv"));
        }
        for (column, _) in UTILITY {
            is_file(
                &file(Family::Utility, column).unwrap(),
                &format!("adult-utility/{column}.csv"),
            );
        }
        is_file(&ages(0, 100, 0), "adult/age.csv");
        is_file(&ages(1, 100, 1), "adult-optimal/age.csv");
        is_file(&(EDUCATION.join("\n") + "\n"), "adult-utility/education-order.txt");
    }
}
