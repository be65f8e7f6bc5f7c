//! The papers' experiments: on small tables, without tables, stopped, and gone on with.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::workdir::{CANARY, Workdir, ended};

/// So many rows in the form of the UCI files, from a place on; every seventh has a missing value,
/// the class may end in a stop.
fn adult(rows: usize, from: usize, stop: &str) -> String {
    let work = ["Private", "State-gov", "Self-emp-inc", "Without-pay"];
    let schools = ["Bachelors", "HS-grad", "11th", "Masters", "Preschool"];
    let marital = ["Never-married", "Divorced", "Married-civ-spouse"];
    let jobs = ["Sales", "Tech-support", "Armed-Forces", "Craft-repair"];
    let countries = ["United-States", "Cuba", "Peru", "Italy"];
    let line = |i: usize| {
        let at = |all: &[&str], step: usize| all[i * step % 13 % all.len()].to_string();
        let (age, school, job) = (
            17 + i * 7 % 60,
            at(&schools, 5),
            if i % 7 == 3 { "?".to_string() } else { at(&jobs, 3) },
        );
        let (sex, race) = (at(&["Male", "Female"], 4), at(&["White", "Black"], 6));
        let class = if i * 5 % 11 < 3 { ">50K" } else { "<=50K" };
        format!(
            "{age}, {}, {i}, {school}, 9, {}, {job}, Husband, {race}, {sex}, 0, 0, 40, {}, {class}{stop}\n",
            at(&work, 2),
            at(&marital, 8),
            at(&countries, 9)
        )
    };
    (from..from + rows).map(line).collect()
}

fn with_adult() -> Workdir {
    let dir = Workdir::new();
    std::fs::create_dir(dir.path("uci")).unwrap();
    dir.write("uci/adult.data", adult(140, 0, ""));
    dir.write("uci/adult.test", format!("|1x3 Cross validator\n{}", adult(70, 140, ".")));
    dir
}

fn files(dir: &Workdir, folder: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir.path(folder))
        .map(|files| files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect())
        .unwrap_or_default();
    names.sort();
    names
}

#[test]
fn a_paper_gives_figures_pictures_page_and_claims_and_goes_on_where_it_was() {
    let dir = with_adult();
    let first = dir.succeed("reproduce wong2006 --quick --data uci -o out");
    assert!(
        first.stderr.contains("180 complete rows of Adult where the papers have 45,222"),
        "{}",
        first.stderr
    );
    let claims: Value = serde_json::from_str(&dir.text("out/claims.json")).unwrap();
    let claims = claims["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 7);
    for claim in claims {
        let verdict = claim["verdict"].as_str().unwrap();
        assert!(
            ["holds", "does not hold"].contains(&verdict)
                && !claim["measured"].as_str().unwrap().is_empty(),
            "{claim}"
        );
        assert!(first.stdout.contains(claim["measured"].as_str().unwrap()));
    }
    assert_eq!(dir.text("out/claims.csv").lines().count(), 8);
    let csv = files(&dir, "out/wong2006");
    assert_eq!(csv.len(), 8, "{csv:?}");
    let figure = dir.text("out/wong2006/k-2-distortion-by-alpha.csv");
    assert!(figure.starts_with("series,alpha,distortion\nTop Down (specialize),0.3,"), "{figure}");
    let page = dir.text("out/reproduction.md");
    assert!(
        page.contains("This page is from a quick run")
            && page.contains("lookalike reproduce wong2006 --data DATA --quick")
    );
    for name in files(&dir, "out/reproduction") {
        assert!(page.contains(&format!("](reproduction/{name})")), "{name}");
    }

    // Nothing is replaced unasked; asked, nothing is run again, and the other form of the table is
    // the same table.
    assert_eq!(dir.run("reproduce wong2006 --quick --data uci -o out").code, Some(2));
    let runs = files(&dir, "out/runs");
    let rows = format!("{}{}", adult(140, 0, ""), adult(70, 140, "")).replace(", ", ",");
    std::fs::create_dir(dir.path("csv")).unwrap();
    let head = "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,gain,loss,hours,native-country,salary-class";
    dir.write("csv/adult_45222.csv", format!("{head}\n{rows}"));
    for data in ["uci", "csv"] {
        let again =
            dir.succeed(&format!("reproduce wong2006 --quick --data {data} -o out --force"));
        assert!(again.stderr.contains("0 runs made"), "{}", again.stderr);
        assert_eq!(again.stdout, first.stdout);
    }
    // A damaged file is a run that has to be made.
    dir.write(&format!("out/runs/{}", runs[0]), "{\"key\"");
    let again = dir.succeed("reproduce wong2006 --quick --data uci -o out --force");
    assert!(again.stderr.contains("1 run made"), "{}", again.stderr);
    assert_eq!(files(&dir, "out/runs"), runs);
    assert!(dir.text("out/wong2006/k-2-distortion-by-alpha.csv") == figure);
}

#[test]
fn without_tables_it_says_what_to_fetch() {
    let dir = Workdir::new();
    for paper in ["li2008", "wong2006"] {
        let run = dir.succeed(&format!("reproduce {paper} -o {paper}"));
        assert!(
            run.stdout.contains("not run: needs Adult")
                && run.stdout.contains("doi 10.24432/C5XW20"),
            "{}",
            run.stdout
        );
        assert!(
            run.stdout.contains("0 of 7 claims hold, 0 do not, 7 were not run"),
            "{}",
            run.stdout
        );
        assert!(
            dir.text(&format!("{paper}/reproduction.md")).contains("No real table was at hand")
        );
    }
}

#[test]
fn what_cannot_be_read_is_told_by_its_place() {
    let dir = Workdir::new();
    std::fs::create_dir(dir.path("empty")).unwrap();
    std::fs::create_dir(dir.path("bad")).unwrap();
    for (line, code, why) in [
        ("reproduce all --data nowhere -o out", 5, "nowhere"),
        ("reproduce all --data empty -o out", 2, "has none of the tables"),
        ("reproduce knuth1968 -o out", 2, "invalid value"),
        ("reproduce all", 2, "--output"),
    ] {
        let run = dir.run(line);
        assert!(run.code == Some(code) && run.stderr.contains(why), "{line}: {run:?}");
    }
    let wrong_label = adult(9, 0, "").replace("Private", CANARY);
    for (text, code) in [(format!("39, {CANARY}\n"), 3), ("\n".to_string(), 3), (wrong_label, 3)] {
        dir.write("bad/adult.data", &text);
        dir.write("bad/adult.test", &text);
        let run = dir.run("reproduce wong2006 --quick --data bad -o out");
        assert!(
            run.code == Some(code) && !run.stderr.contains(CANARY) && !run.stdout.contains(CANARY),
            "{run:?}"
        );
    }
    dir.write("file", "");
    assert_eq!(dir.run("reproduce wong2006 -o file").code, Some(5));
}

/// What is stored of a stopped run is tested in the crate `lookalike-lab`, without a clock.
#[test]
fn a_signal_stops_it() {
    let dir = with_adult();
    let script = "exec env --default-signal=INT,TERM,HUP $0 reproduce xu2006 --data uci -o out";
    let mut child =
        dir.shell(script).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The warning about the small table is the last word before the experiments, which take minutes.
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    stderr.read_line(&mut said).unwrap();
    assert!(said.contains("complete rows of Adult"), "{said}");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &pid]).status().unwrap().success());
    stderr.read_to_string(&mut said).unwrap();
    let run = ended(&child.wait_with_output().unwrap());
    assert_eq!(run.code, Some(130), "{said}");
    assert!(said.contains("interrupted: ") && run.stdout.is_empty(), "{said}");
    assert!(!dir.path("out/claims.csv").exists() && files(&dir, "out/xu2006").is_empty());
}
