use crate::workdir::{Workdir, ended};

const FLAGS: &str =
    "-k 5 --qi age,zip,sex --sensitive diagnosis --identifier name,note --hierarchy zip=prefix:4,3";
const RING: &str = "--algorithm ring --non-homogeneous --quiet";

#[test]
fn it_must_be_asked_for_by_its_sense() {
    let dir = Workdir::with_patients(100);
    let run = dir.run(&format!("anonymize patients.csv -o out.csv {FLAGS} --algorithm ring"));
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(
        run.stderr.contains("non-homogeneous") && run.stderr.contains("add --non-homogeneous"),
        "{}",
        run.stderr
    );
    let run = dir.run(&format!("anonymize patients.csv -o out.csv {FLAGS} --non-homogeneous"));
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("--algorithm ring"), "{}", run.stderr);
    let run = dir.run(&format!("anonymize patients.csv -o out.csv {FLAGS} --proof proof.csv"));
    assert_eq!(run.code, Some(2), "{run:?}");
    for wrong in [
        "--publish set",
        "--input-order",
        "--proof -",
        "--proof ./out.csv",
        "--proof patients.csv --force",
    ] {
        assert_eq!(
            dir.run(&format!("anonymize patients.csv -o out.csv {FLAGS} {RING} {wrong}")).code,
            Some(2),
            "{wrong}"
        );
    }
    dir.write("old.csv", "mine");
    assert_eq!(
        dir.run(&format!("anonymize patients.csv -o out.csv {FLAGS} {RING} --proof old.csv")).code,
        Some(2)
    );
    assert_eq!(dir.text("old.csv"), "mine");
    assert!(!dir.path("out.csv").exists() && !dir.path("proof.csv").exists());
}

#[test]
fn it_is_labelled_wherever_it_shows_and_verified_with_and_without_its_proof() {
    let dir = Workdir::with_patients(400);
    for out in ["out.csv", "out.parquet"] {
        let run = dir.succeed(&format!(
            "anonymize patients.csv -o {out} {FLAGS} --algorithm ring --non-homogeneous --proof proof.csv --force"
        ));
        assert!(
            run.stderr.contains("5-anonymous, NON-HOMOGENEOUS") && !run.stderr.contains("classes "),
            "{}",
            run.stderr
        );
        for how in ["--proof proof.csv", "--non-homogeneous", "--non-homogeneous --proof proof.csv"]
        {
            let run = dir.succeed(&format!("verify {out} {FLAGS} --source patients.csv {how}"));
            assert!(
                run.stdout.contains("verified: 5-anonymous, NON-HOMOGENEOUS"),
                "{}",
                run.stdout
            );
            let json =
                dir.json(&format!("verify {out} {FLAGS} --source patients.csv {how} --json"));
            assert_eq!(json["non_homogeneous"]["candidates"], 5);
        }
    }
    let json =
        dir.json(&format!("anonymize patients.csv -o out.csv --force {FLAGS} {RING} --json"));
    assert_eq!(
        (&json["algorithm"], &json["non_homogeneous"]["candidates"]),
        (&"ring".into(), &5.into())
    );
    // It is not what other releases are: judged like one of them it does not hold, and alone it
    // cannot be judged.
    assert_eq!(dir.run(&format!("verify out.csv {FLAGS} --source patients.csv")).code, Some(1));
    assert_eq!(dir.run(&format!("verify out.csv {FLAGS} --non-homogeneous")).code, Some(2));
    let run = dir.run(&format!(
        "verify out.csv {} --source patients.csv --non-homogeneous",
        FLAGS.replace("-k 5", "-k 300")
    ));
    assert!(run.code == Some(1) && run.stdout.contains("BROKEN  k = 300 by 1 window"), "{run:?}");
}

#[test]
fn rules_on_sensitive_values_hold_and_are_verified_by_the_proof_alone() {
    let dir = Workdir::with_patients(400);
    let flags = format!("{FLAGS} --l diagnosis=2");
    dir.succeed(&format!("anonymize patients.csv -o out.csv {flags} {RING} --proof proof.csv"));
    let run =
        dir.succeed(&format!("verify out.csv {flags} --source patients.csv --proof proof.csv"));
    assert!(run.stdout.contains("ok      l = 2"), "{}", run.stdout);
    let run = dir.run(&format!("verify out.csv {flags} --source patients.csv --non-homogeneous"));
    assert!(run.code == Some(3) && run.stderr.contains("--proof"), "{run:?}");
    // Of another release, or spoilt.
    dir.succeed(&format!("anonymize patients.csv -o other.csv {flags} {RING}"));
    let run = dir.run(&format!("verify other.csv {flags} --source patients.csv --proof proof.csv"));
    assert_eq!(run.code, Some(1), "{run:?}");
    dir.write("spoilt.csv", dir.text("proof.csv").replacen("\n1,", "\none,", 1));
    let run = dir.run(&format!("verify out.csv {flags} --source patients.csv --proof spoilt.csv"));
    assert!(run.code == Some(3) && run.stderr.contains("line 2 of the proof"), "{run:?}");
    dir.write("cut.csv", dir.text("proof.csv").lines().take(300).collect::<Vec<_>>().join("\n"));
    let run = dir.run(&format!("verify out.csv {flags} --source patients.csv --proof cut.csv"));
    assert!(run.code == Some(3) && run.stderr.contains("does not belong"), "{run:?}");
    assert_eq!(
        dir.run(&format!("verify out.csv {flags} --source patients.csv --proof patients.csv")).code,
        Some(3)
    );
    assert_eq!(
        dir.run(&format!("verify out.csv {flags} --source patients.csv --proof nowhere.csv")).code,
        Some(5)
    );
}

#[test]
fn the_shifts_do_not_come_from_the_seed() {
    let dir = Workdir::with_patients(1000);
    for out in ["one.csv", "two.csv"] {
        dir.succeed(&format!("anonymize patients.csv -o {out} {FLAGS} {RING} --seed 1"));
    }
    // The boxes are the same, who stands behind them is not.
    let boxes = |name: &str| {
        let text = dir.text(name);
        let mut all: Vec<String> =
            text.lines().map(|line| line.rsplit_once(',').unwrap().0.to_string()).collect();
        all.sort();
        all
    };
    assert_eq!(boxes("one.csv"), boxes("two.csv"));
    assert_ne!(dir.text("one.csv"), dir.text("two.csv"));
}

#[test]
fn a_touched_release_does_not_pass() {
    let dir = Workdir::with_patients(200);
    dir.succeed(&format!("anonymize patients.csv -o out.csv {FLAGS} {RING} --proof proof.csv"));
    let good = dir.text("out.csv");
    let touched = |edit: &dyn Fn(&str) -> String| {
        let mut lines: Vec<String> = good.lines().map(String::from).collect();
        lines[50] = edit(&lines[50]);
        dir.write("touched.csv", lines.join("\n"));
        ["--proof proof.csv", "--non-homogeneous"].map(|how| {
            dir.run(&format!("verify touched.csv {FLAGS} --source patients.csv {how}")).code
        })
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(dir.path("proof.csv")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "a proof is nobody else's business");
    }
    assert_eq!(touched(&|line| line.to_string()), [Some(0); 2]);
    assert_eq!(touched(&|line| format!("99,{}", line.split_once(',').unwrap().1)), [Some(1); 2]);
    assert_eq!(
        touched(&|line| format!("{},plague", line.rsplit_once(',').unwrap().0)),
        [Some(1); 2]
    );
}

#[test]
fn it_reads_a_pipe_too_and_audits_the_release_against_what_it_has_kept() {
    let dir = Workdir::with_patients(100);
    let line = format!("cat patients.csv | $0 anonymize - -o out.csv {FLAGS} {RING} --json");
    let run = ended(&dir.shell(&line).output().unwrap());
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("by proof") && dir.path("out.csv").exists(), "{}", run.stdout);
}
