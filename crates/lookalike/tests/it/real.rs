//! Real tables, where they are available.

use std::path::Path;

use lookalike::request::{ColumnRequest, HierarchySpec, Kind, Role};
use lookalike::{Algorithm, BoundKind, Budget, Problem, Request, bound, problem, table, tight};

use crate::support::{EIGHT, Input, publish, real_tables};

/// Adult in the configuration of Xu et al. 2006: eight quasi-identifiers, weights 1.
fn adult(folder: &Path, k: u64) -> Request {
    let hierarchies = folder.join("hierarchies/adult-utility");
    let order: Vec<String> = std::fs::read_to_string(hierarchies.join("education-order.txt"))
        .unwrap()
        .lines()
        .map(String::from)
        .collect();
    let mut request = Request::parse(&format!(
        "k = {k}\nrest = \"drop\"\n[columns]\nage = {{ role = \"quasi\" }}\neducation = {{ role = \
         \"quasi\", order = {order:?} }}\n\
         sex = {{ role = \"quasi\" }}\nrace = {{ role = \"quasi\" }}\nnative-country = {{ role = \
         \"quasi\" }}\n\
         occupation = {{ role = \"quasi\" }}\nmarital-status = {{ role = \"quasi\", hierarchy = \
         \"marital-status.csv\" }}\n\
         workclass = {{ role = \"quasi\", hierarchy = \"workclass.csv\" }}\nsalary-class = {{ \
         role = \"keep\" }}\n"
    ))
    .unwrap();
    for column in request.columns.values_mut() {
        if let Some(HierarchySpec::File(file)) = &mut column.hierarchy {
            *file = hierarchies.join(&*file);
        }
    }
    request
}

#[test]
fn adult_is_released_true_and_k_anonymous() {
    let Some(data) = real_tables() else { return };
    let folder = tempfile::tempdir().unwrap();
    // Xu et al., figure 7 of the extended version: both methods lose less than Mondrian for every
    // k.
    for (k, mondrian, greedy, bound) in [
        (2, 11_800.0, 5_300.0, 2_538.0),
        (10, 46_500.0, 22_000.0, 8_509.0),
        (100, 115_000.0, 65_000.0, 22_014.0),
    ] {
        let input = Input::read(&data.join("adult_30162.csv.zst"), &adult(&data, k), 1).unwrap();
        for algorithm in Algorithm::ALL {
            let done = input.solve(algorithm).publish(&folder.path().join("safe.csv")).unwrap();
            assert!(done.verdict.holds(), "{algorithm}, k = {k}: {:?}", done.verdict.truth);
            eprintln!(
                "adult, k = {k}, {algorithm}: NCP {:.0}, {} classes",
                done.loss.ncp, done.verdict.measures.classes
            );
            assert_eq!(
                (done.verdict.measures.rows, done.verdict.truth.unwrap().suppressed),
                (30_162, 0)
            );
            let most = match algorithm {
                Algorithm::Mondrian => mondrian,
                Algorithm::BottomUp | Algorithm::TopDown => greedy,
                // The limit is one for local recodings: a global recoding loses most of the detail.
                global if global.is_global() => f64::INFINITY,
                _ => 2.3 * mondrian,
            };
            assert!(
                (bound..most).contains(&done.loss.ncp),
                "k = {k}, {algorithm}: {}",
                done.loss.ncp
            );
        }
    }
}

fn adult_problem(data: &Path, k: u64) -> Problem {
    let request = adult(data, k);
    let source = table::open(&data.join("adult_30162.csv.zst"), None).unwrap();
    let roles = request.roles(source.names()).unwrap();
    let treatments = problem::treatments(source.names(), &roles);
    let table = source.read(&treatments).unwrap();
    Problem::new(&table, &roles, &request).unwrap()
}

/// Another program found 3,103 in one round; the best known release has a loss of 3,469.
#[test]
fn the_sharper_bound_of_adult_is_far_above_the_plain_one() {
    let Some(data) = real_tables() else { return };
    let found = tight(&adult_problem(&data, 2), 1, &Budget::unlimited());
    assert_eq!(found.kind, BoundKind::Tight);
    assert!((3_090.0..3_469.0).contains(&found.value), "{}", found.value);
}

/// Figures from another program that enumerates boxes in another way.
#[test]
fn the_bound_of_adult_is_what_it_always_was() {
    let Some(data) = real_tables() else { return };
    for (k, expected) in
        [(2, 2_538), (5, 5_798), (10, 8_509), (25, 12_786), (50, 16_945), (100, 22_014)]
    {
        let found = bound(&adult_problem(&data, k), 1, &Budget::unlimited());
        assert_eq!(found.kind, BoundKind::Exact, "k = {k}");
        assert_eq!(format!("{:.0}", found.value), expected.to_string(), "k = {k}");
    }
}

/// Wong et al., figure 2 (c) and figure 3 (c): the greater alpha, the smaller the distortion ratio.
#[test]
fn distortion_falls_as_alpha_rises_and_rises_with_k() {
    let Some(data) = real_tables() else { return };
    let folder = tempfile::tempdir().unwrap();
    let distortion = |k: u64, alpha: &str| {
        let rule = format!(
            "salary-class = {{ role = \"sensitive\", alpha = {alpha}, values = [\">50K\"] }}"
        );
        let toml = format!("k = {k}\nrest = \"drop\"\n[output]\nsnap = true\n[columns]\n{rule}\n");
        let mut request = Request::parse(&toml).unwrap();
        for name in EIGHT {
            let mut column = ColumnRequest::new(Role::Quasi);
            column.hierarchy =
                Some(HierarchySpec::File(data.join(format!("hierarchies/adult/{name}.csv"))));
            column.kind = (name == "age").then_some(Kind::Numeric);
            request.columns.insert(name.to_string(), column);
        }
        let input = data.join("adult_45222.csv.zst");
        let done =
            publish(&input, &folder.path().join("safe.csv"), &request, Algorithm::Specialize, 1)
                .unwrap();
        assert!(done.verdict.holds(), "k = {k}, alpha = {alpha}");
        eprintln!("adult, k = {k}, alpha = {alpha}: distortion {:.4}", done.loss.distortion);
        done.loss.distortion
    };
    let series = |k: u64| ["0.25", "0.3", "0.5", "0.7", "0.9"].map(|alpha| distortion(k, alpha));
    let (two, ten) = (series(2), series(10));
    assert!(
        [two, ten].iter().all(|series| series.windows(2).all(|pair| pair[1] < pair[0])),
        "{two:?} {ten:?}"
    );
    assert!(two.iter().zip(&ten).all(|(two, ten)| two < ten), "{two:?} {ten:?}");
}

/// Labels with commas and quotes, a group with the name of a value, a diverse sensitive column. One
/// algorithm takes all rows, every algorithm one row in ten.
#[test]
fn a_survey_with_awkward_labels_is_released_true_and_diverse() {
    let Some(data) = real_tables() else { return };
    let folder = tempfile::tempdir().unwrap();
    let quasi = ["age", "gender", "education", "marital", "race", "workclass", "birthplace"];
    let mut request = Request::parse(
        "k = 50\nrest = \"drop\"\n[columns]\noccupation = { role = \"sensitive\", l = 5 }\n",
    )
    .unwrap();
    for name in quasi {
        let mut column = ColumnRequest::new(Role::Quasi);
        column.hierarchy =
            Some(HierarchySpec::File(data.join(format!("hierarchies/acs2018/{name}.csv"))));
        column.kind = (name == "age").then_some(Kind::Numeric);
        request.columns.insert(name.to_string(), column);
    }
    let (whole, sample, safe) = (
        data.join("acs2018_sal_occ.csv.zst"),
        folder.path().join("sample.csv"),
        folder.path().join("safe.csv"),
    );
    let done = publish(&whole, &safe, &request, Algorithm::TopDown, 1).unwrap();
    assert!(done.verdict.holds(), "{:?}", done.verdict.truth);
    assert_eq!(done.verdict.measures.rows, 295_243);
    let text = table::text(&whole).unwrap();
    let lines = text.lines().take(1).chain(text.lines().skip(1).step_by(10));
    std::fs::write(&sample, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let input = Input::read(&sample, &request, 1).unwrap();
    for algorithm in Algorithm::ALL {
        let done = input.solve(algorithm).publish(&safe).unwrap();
        assert!(done.verdict.holds(), "{algorithm}: {:?}", done.verdict.truth);
        assert_eq!(done.verdict.measures.rows, 29_525);
    }
}
