//! A table of visits from `init` to a verified release: 400 patients with five visits each. Counted by
//! rows, every patient was a class of five.

use std::collections::{BTreeMap, BTreeSet};

use crate::workdir::Workdir;

const ILL: [&str; 5] = ["asthma", "cancer", "flu", "gout", "hiv"];

fn visits() -> Workdir {
    let dir = Workdir::new();
    let mut text = "patient_id,age,sex,zip,diagnosis\n".to_string();
    for visit in 0..2_000_usize {
        let patient = visit % 400;
        let mixed = patient * 7_919 % 1_009;
        let ill = ILL[(mixed + visit / 400 * (mixed % 3)) % ILL.len()];
        text += &format!(
            "P{patient:04},{},{},{},{ill}\n",
            18 + mixed % 70,
            ["f", "m"][mixed / 70 % 2],
            20_480 + mixed % 4
        );
    }
    dir.write("visits.csv", text);
    dir
}

fn records(dir: &Workdir, name: &str) -> Vec<Vec<String>> {
    let text = dir.text(name);
    let lines = text.lines().skip(1);
    lines.map(|line| line.split(',').map(String::from).collect()).collect()
}

/// The patients behind each released combination, with their diagnoses there, by the proof.
type Classes = BTreeMap<Vec<String>, BTreeMap<String, BTreeSet<String>>>;

fn classes(dir: &Workdir) -> Classes {
    let (source, release) = (records(dir, "visits.csv"), records(dir, "safe.csv"));
    let mut classes = Classes::new();
    for line in records(dir, "proof.csv") {
        let row = |at: usize| line[at].parse::<usize>().unwrap() - 1;
        let (released, visit) = (&release[row(0)], &source[row(1)]);
        let class = classes.entry(released[..3].to_vec()).or_default();
        assert_eq!(released[3], visit[4], "the diagnosis is that of the visit");
        class.entry(visit[0].clone()).or_default().insert(released[3].clone());
    }
    classes
}

#[test]
fn every_class_of_visits_has_five_patients_and_alpha_counts_patients() {
    let dir = visits();
    let said = dir.succeed("init visits.csv -o v.toml").stdout;
    assert!(said.contains("of 400 persons; the smallest class has 2\n"), "{said}");
    let config = dir.text("v.toml");
    assert!(config.contains("patient_id = { role = \"person\""), "{config}");
    let line = "anonymize -c v.toml -o safe.csv --proof proof.csv --steps 300 --force";
    let run = dir.succeed(&format!("{line} --alpha diagnosis=0.8"));
    assert!(run.stderr.contains("persons   400, counted by person"), "{}", run.stderr);
    assert!(run.stderr.contains("ok      k = 5 persons"), "{}", run.stderr);
    assert_eq!(records(&dir, "safe.csv").len(), 2_000);
    let found = classes(&dir);
    assert!(found.len() > 10, "{}", found.len());
    let mut seen = BTreeSet::new();
    for class in found.values() {
        assert!(class.len() >= 5, "{class:?}");
        for ill in ILL {
            let with = class.values().filter(|own| own.contains(ill)).count();
            assert!(with * 10 <= class.len() * 8, "{with} of {}", class.len());
        }
        assert!(class.keys().all(|patient| seen.insert(patient.clone())), "in two classes");
    }
    assert_eq!(seen.len(), 400);
    let verify =
        "verify safe.csv -c v.toml --alpha diagnosis=0.8 --source visits.csv --proof proof.csv";
    dir.succeed(verify);

    // By rows as well: five patients in every class, though not all visits of a patient.
    dir.succeed(&format!("{line} --persons rows"));
    assert!(classes(&dir).values().all(|class| class.len() >= 5));

    // Counted by rows, the same table is released as it is; the warning names the way out.
    let flags = "--identifier patient_id --qi age,sex,zip --keep diagnosis -k 5 --steps 10";
    let run = dir.succeed(&format!("anonymize visits.csv {flags} -o rows.csv"));
    assert!(run.stderr.contains("--person patient_id"), "{}", run.stderr);
}

#[test]
fn what_init_writes_is_followed_to_a_verified_release_and_a_report() {
    let dir = visits();
    dir.succeed("init visits.csv -o v.toml");
    assert!(dir.text("v.toml").contains("\nproof = \"visits-proof.csv\"  # "));
    dir.succeed("anonymize -c v.toml --steps 100");
    assert_eq!(records(&dir, "visits-proof.csv").len(), 2_000);
    let said = dir.succeed("verify -c v.toml").stdout;
    assert!(said.contains("verified: 5-anonymous"), "{said}");
    dir.succeed("report -c v.toml -o v.html");
    // A proof that was typed, and is saved with the configuration.
    dir.succeed("anonymize -c v.toml --proof p.csv --save-config w.toml --steps 100 --force");
    assert!(dir.text("w.toml").contains("proof = \"p.csv\""), "{}", dir.text("w.toml"));
    dir.succeed("verify -c w.toml");
}

#[test]
fn pseudonyms_follow_patients_and_are_new_for_each_release() {
    let dir = visits();
    let flags =
        "--person patient_id --qi age,sex,zip --keep diagnosis -k 5 --steps 50 --pseudonyms";
    let make = |seed: u64, k: u64| {
        let more = format!("--seed {seed} -o safe.csv --proof proof.csv --force -k {k}");
        dir.succeed(&format!("anonymize visits.csv {} {more}", flags.replace("-k 5", "")));
        let (source, release) = (records(&dir, "visits.csv"), records(&dir, "safe.csv"));
        let mut of_patient: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for line in records(&dir, "proof.csv") {
            let row = |at: usize| line[at].parse::<usize>().unwrap() - 1;
            let (pseudonym, patient) = (&release[row(0)][0], &source[row(1)][0]);
            of_patient.entry(patient.clone()).or_default().insert(pseudonym.clone());
        }
        assert!(of_patient.values().all(|own| own.len() == 1));
        let all: BTreeMap<String, String> = of_patient
            .into_iter()
            .map(|(patient, own)| (patient, own.into_iter().collect()))
            .collect();
        assert_eq!(all.values().collect::<BTreeSet<_>>().len(), 400);
        all
    };
    let first = make(1, 5);
    assert_eq!(first, make(1, 5), "the same run");
    for other in [make(2, 5), make(1, 6)] {
        let same = first.iter().filter(|(patient, own)| other[*patient] == **own).count();
        assert!(same < 12, "{same} of 400 patients have the same number");
    }
    dir.succeed(
        "verify safe.csv --person patient_id --qi age,sex,zip --keep diagnosis -k 5 --pseudonyms",
    );
}

#[test]
fn a_second_release_leaves_the_proof_of_the_first_alone() {
    let dir = visits();
    dir.succeed("init visits.csv");
    dir.succeed("anonymize -c lookalike.toml --steps 1");
    let config = dir.text("lookalike.toml");
    let line = config.lines().find(|line| line.starts_with("proof = ")).unwrap();
    let proof = dir.read(line.split('"').nth(1).unwrap());
    let refused = dir.run("anonymize -c lookalike.toml -o second.csv --force --steps 1");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("name a proof for this one, --proof FILE"), "{refused:?}");
    dir.succeed("anonymize -c lookalike.toml -o second.csv --proof second-proof.csv --steps 1");
    dir.succeed("anonymize -c lookalike.toml -o ./second.csv --proof p.csv --force --steps 1");
    assert!(dir.read(line.split('"').nth(1).unwrap()) == proof, "the proof of the first release");
    dir.succeed("verify -c lookalike.toml");
}
