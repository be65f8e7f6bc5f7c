//! What analysts get: the codebook beside a release, and middles of ranges.

use crate::workdir::{QUICK, Workdir};

const FLAGS: &str = "-k 5 --qi age,zip,sex --sensitive diagnosis --rest drop --seed 7";

#[test]
fn a_codebook_is_written_beside_the_release_and_named_in_the_summary() {
    let dir = Workdir::with_patients(300);
    let run = dir.succeed(&format!(
        "anonymize patients.csv -o safe.csv --codebook {FLAGS} {QUICK} --l diagnosis=2"
    ));
    assert!(
        run.stderr.contains(
            "written   safe.csv\n          safe.codebook.json\n          safe.codebook.html\n"
        ),
        "{}",
        run.stderr
    );
    let codebook: serde_json::Value =
        serde_json::from_str(&dir.text("safe.codebook.json")).unwrap();
    let names = codebook["columns"].as_array().unwrap().iter().map(|column| &column["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["age", "zip", "sex", "diagnosis"]);
    assert_eq!(codebook["release"], "safe.csv");
    let page = dir.text("safe.codebook.html");
    for part in ["<h1>Codebook: safe.csv</h1>", "<h2>diagnosis</h2>", "unchanged", "</html>"] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    // Neither file is there when nobody asks, and none is replaced unasked.
    dir.succeed(&format!("anonymize patients.csv -o other.csv {FLAGS} {QUICK}"));
    assert!(!dir.path("other.codebook.json").exists());
    let again = format!("anonymize patients.csv -o safe.csv --codebook {FLAGS} {QUICK}");
    assert_ne!(dir.run(&again).code, Some(0));
    dir.succeed(&format!("{again} --force"));
}

#[test]
fn the_codebook_is_a_key_of_the_configuration_too() {
    let dir = Workdir::with_patients(300);
    dir.write("c.toml", "[output]\ncodebook = true\npublish = \"center\"\n");
    dir.succeed(&format!("anonymize patients.csv -c c.toml -o safe.tsv.gz {FLAGS} {QUICK}"));
    let codebook: serde_json::Value =
        serde_json::from_str(&dir.text("safe.codebook.json")).unwrap();
    let published: Vec<&str> = codebook["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["published"].as_str().unwrap())
        .collect();
    assert_eq!(published[..3], ["least value", "greatest value", "middle"]);
}

#[test]
fn middles_are_verified_and_another_middle_is_found() {
    let dir = Workdir::with_patients(300);
    dir.succeed(&format!("anonymize patients.csv -o safe.csv --publish center {FLAGS} {QUICK}"));
    let text = dir.text("safe.csv");
    assert!(text.starts_with("age_min,age_max,age_center,"), "{}", text.lines().next().unwrap());
    let verify = format!("verify safe.csv --source patients.csv {FLAGS}").replace("--seed 7", "");
    dir.succeed(&verify);
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    let mut cells: Vec<&str> = lines[7].split(',').collect();
    cells[2] = "33.125";
    lines[7] = cells.join(",");
    dir.write("safe.csv", lines.join("\n") + "\n");
    let run = dir.run(&verify);
    assert_eq!(run.code, Some(1));
    let leak = "rows where `age_center` is not the middle of `age_min` and `age_max`: 1";
    assert!(format!("{}{}", run.stdout, run.stderr).contains(leak), "{run:?}");
}
