//! Pages about releases: what they say, what they must not say, and how the command ends.

use serde_json::Value;

use crate::workdir::{CANARY, QUICK, Workdir};

const FLAGS: &str =
    "-k 5 --qi age,zip,sex --sensitive diagnosis --identifier name,note --hierarchy zip=prefix:4,3";

fn numbers(dir: &Workdir, name: &str) -> Value {
    serde_json::from_str(&dir.text(name)).unwrap()
}

#[test]
fn the_page_says_what_holds_and_its_twin_has_the_numbers() {
    let dir = Workdir::with_patients(500);
    let made =
        dir.json(&format!("anonymize patients.csv -o safe.csv {FLAGS} --suppress 1% --algorithm top-down --seed 1 --json"));
    let run = dir.succeed(&format!(
        "report patients.csv safe.csv {FLAGS} --suppress 1% -o r.html --json r.json --queries 50"
    ));
    assert!(
        run.stdout.is_empty() && run.stderr.contains("-anonymous for age, zip, sex"),
        "{run:?}"
    );
    let (page, reported) = (dir.text("r.html"), numbers(&dir, "r.json"));
    for part in [
        "-anonymous for age, zip, sex",
        ": violations 0",
        "<svg",
        "matters here",
        "Loss",
        "@media print",
    ] {
        assert!(page.contains(part), "{part}");
    }
    for never in ["<script", "http://", "https://", "src=", "@import", "url(", "compliant"] {
        assert!(!page.contains(never), "{never}");
    }
    assert_eq!(
        (&reported["schema"], &reported["version"], &reported["holds"]),
        (&"lookalike-report".into(), &1.into(), &true.into())
    );
    assert_eq!(reported["rows"]["released"], made["released"]);
    assert_eq!(reported["rows"]["suppressed"], made["suppressed"]);
    assert_eq!(reported["queries"]["queries"], 50);
    let near = |a: &Value, b: &Value| (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-6;
    assert!(
        near(&reported["loss"]["ncp"], &made["loss"]["ncp"])
            && near(&reported["loss"]["gcp"], &made["loss"]["gcp"]),
        "{reported:#}"
    );
    // A distribution has every row once.
    for column in reported["distributions"].as_array().unwrap() {
        let sum = |key: &str| {
            column["bins"]
                .as_array()
                .unwrap()
                .iter()
                .map(|bin| bin[key].as_f64().unwrap())
                .sum::<f64>()
        };
        assert!((sum("before") - 500.0).abs() < 1e-9, "{column:#}");
        assert!((sum("after") - made["released"].as_f64().unwrap()).abs() < 1e-6, "{column:#}");
    }
}

#[test]
fn every_local_algorithm_and_form_loses_in_the_file_what_the_search_said() {
    let dir = Workdir::with_patients(200);
    let snapped = format!("{FLAGS} --hierarchy age=intervals:5,10,20");
    let forms = [(FLAGS, ""), (FLAGS, "--publish bounds"), (snapped.as_str(), "--snap")];
    for algorithm in [
        "mondrian",
        "mondrian-relaxed",
        "bottom-up",
        "top-down",
        "cluster",
        "peel",
        "specialize",
        "auto",
        "incognito",
    ] {
        for (flags, form) in forms {
            if algorithm == "incognito" && form.contains("bounds") {
                continue;
            }
            let how = format!(
                "--algorithm {algorithm} --steps 50 --seed 1 --suppress 2% {form} --bound none"
            );
            let made = dir.json(&format!(
                "anonymize patients.csv -o s.csv --force {flags} {how} --json --quiet"
            ));
            let line = format!(
                "report patients.csv s.csv {flags} --suppress 2% --queries 0 --bound none --force -o r.html --json r.json"
            );
            dir.succeed(&line);
            let (said, found) = (
                made["loss"]["ncp"].as_f64().unwrap(),
                numbers(&dir, "r.json")["loss"]["ncp"].as_f64().unwrap(),
            );
            assert!((said - found).abs() < 1e-6, "{algorithm} {form}: {said} {found}");
        }
    }
    // A set lists its values: the file says more than the group above them, which the search
    // charged.
    let flags = "-k 9 --qi age,diagnosis --rest drop --algorithm mondrian --seed 1 --publish set";
    let made = dir.json(&format!("anonymize patients.csv -o s.csv --force {flags} --json --quiet"));
    dir.succeed("report patients.csv s.csv -k 9 --qi age,diagnosis --rest drop --queries 0 --force -o r.html --json r.json");
    let (said, found) = (
        made["loss"]["ncp"].as_f64().unwrap(),
        numbers(&dir, "r.json")["loss"]["ncp"].as_f64().unwrap(),
    );
    assert!(found < said && dir.text("s.csv").contains('{'), "{said} {found}");
}

#[test]
fn a_release_that_does_not_hold_is_told_in_red_and_by_the_exit_code() {
    let dir = Workdir::with_patients(500);
    dir.succeed(&format!("anonymize patients.csv -o safe.csv {FLAGS} {QUICK}"));
    let good = dir.text("safe.csv");
    let mut lines: Vec<&str> = good.lines().collect();
    lines[3] = "21,53711,male,flu";
    dir.write("touched.csv", lines.join("\n"));
    for edition in ["internal", "public"] {
        let run =
            dir.run(&format!("report patients.csv touched.csv {FLAGS} -o r.html --json r.json --force --edition {edition}"));
        assert_eq!(run.code, Some(1), "{run:?}");
        let page = dir.text("r.html");
        assert!(
            page.contains("class=\"verdict bad\"")
                && page.contains("does NOT satisfy")
                && page.contains("BROKEN"),
            "{page}"
        );
        assert!(!page.contains("file is 5-anonymous"), "{page}");
        assert_eq!(numbers(&dir, "r.json")["holds"], false);
    }
    // Cells that say nothing, and a column that should not be there.
    dir.write("odd.csv", good.replace(",male,", ",neither,"));
    assert_eq!(
        dir.run(&format!("report patients.csv odd.csv {FLAGS} -o r.html --force")).code,
        Some(1)
    );
    let run = dir.run(&format!("report patients.csv patients.csv {FLAGS} -o r.html --force"));
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(dir.text("r.html").contains("LEAK"));
}

#[test]
fn existing_files_and_inputs_are_safe() {
    let dir = Workdir::with_patients(100);
    dir.succeed(&format!("anonymize patients.csv -o safe.csv {FLAGS} {QUICK}"));
    dir.write("r.html", "mine");
    let line = format!("report patients.csv safe.csv {FLAGS} --queries 0 --bound none");
    let run = dir.run(&format!("{line} -o r.html"));
    assert!(run.code == Some(2) && run.stderr.contains("--force"), "{run:?}");
    assert_eq!(dir.text("r.html"), "mine");
    for same in [
        "-o safe.csv",
        "-o patients.csv",
        "-o a.html --json a.html",
        "-o a.html --json ./a.html",
        "-o a.html --json safe.csv",
    ] {
        let run = dir.run(&format!("{line} --force {same}"));
        assert_eq!(run.code, Some(2), "{same}: {run:?}");
    }
    assert!(!dir.path("a.html").exists());
    let first = dir.succeed(&format!("{line} -o r.html --force")).stderr;
    let before = dir.text("r.html");
    dir.succeed(&format!("{line} -o r.html --force"));
    assert_eq!(dir.text("r.html"), before, "the same page each time: {first}");
}

#[test]
fn names_and_labels_cannot_become_markup() {
    let dir = Workdir::new();
    let name = "<script>alert(1)</script>";
    let mut text = format!("\"{name}\",age\n");
    for i in 0..60 {
        let label =
            ["\"\"quoted\"\"", "<b>bold</b>", "it's & co", "\"\"><img src=x onerror=alert(1)>"]
                [i % 4];
        text += &format!("\"{label}\",{}\n", 20 + i % 7);
    }
    dir.write("t.csv", text);
    dir.write(
        "c.toml",
        format!(
            "k = 3\n[columns]\n\"{name}\" = {{ role = \"quasi\" }}\nage = {{ role = \"quasi\" }}\n"
        ),
    );
    dir.succeed("anonymize t.csv -c c.toml -o s.csv --raw-formulas");
    for edition in ["internal", "public"] {
        dir.succeed(&format!("report t.csv s.csv -c c.toml -o {edition}.html --json {edition}.json --edition {edition}"));
        let page = dir.text(&format!("{edition}.html"));
        for never in ["<script", "<b>bold", "<img"] {
            assert!(!page.contains(never), "{edition}: {never}");
        }
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{edition}");
        assert_eq!(numbers(&dir, &format!("{edition}.json"))["quasi_identifiers"][0], name);
    }
}

/// Canaries in identifiers, in a row that is left out, in values that few rows have; numbers that
/// only few rows have.
fn with_rare() -> String {
    let mut text = String::from("name,city,level,age,ward,diagnosis\n");
    for i in 0..400 {
        let (city, level) = (["Bonn", "Kiel", "Ulm"][i % 3], ["low", "mid", "high"][i / 3 % 3]);
        let ward = ["W1", "W2"][i % 2];
        text += &format!(
            "{CANARY}-{i},{city},{level},{},{ward},{}\n",
            30 + i / 9 % 4,
            ["flu", "asthma"][i / 7 % 2]
        );
    }
    for i in 0..3 {
        text += &format!("{CANARY},{CANARY}-town{i},{CANARY}-rank,31,W1,flu\n");
    }
    text + &format!("{CANARY},{CANARY}-city,low,917,{CANARY}-ward,{CANARY}-sick\n")
}

#[test]
fn the_public_edition_shows_nothing_that_the_release_does_not() {
    let dir = Workdir::new();
    dir.write("t.csv", with_rare());
    dir.write("order.txt", format!("low\n{CANARY}-rank\nmid\nhigh\n"));
    let flags = "--identifier name --qi city,level,age --keep ward --sensitive diagnosis -k 20 --suppress 1% --order level=order.txt";
    let hierarchies = format!("Bonn;North;*\nKiel;North;*\nUlm;South;*\n{CANARY}-city;East;*\n");
    let towns = (0..3).map(|i| format!("{CANARY}-town{i};East;*\n")).collect::<String>();
    dir.write("h.csv", hierarchies + &towns);
    for (at, form) in
        ["", "--hierarchy city=h.csv", "--publish set", "--publish bounds"].into_iter().enumerate()
    {
        let (reading, writing) =
            if form.starts_with("--publish") { ("", form) } else { (form, "") };
        dir.succeed(&format!(
            "anonymize t.csv -o s{at}.csv {flags} {reading} {writing} --algorithm top-down --seed 8191 --quiet"
        ));
        let released = dir.text(&format!("s{at}.csv"));
        let line = format!(
            "report t.csv s{at}.csv {flags} {reading} -o r{at}.html --json r{at}.json --edition public --queries 100"
        );
        let run = dir.succeed(&line);
        for text in [dir.text(&format!("r{at}.html")), dir.text(&format!("r{at}.json")), run.stderr]
        {
            // A set or an order may publish some of them: the page may show those and no others.
            for part in text.match_indices(CANARY).map(|(from, _)| &text[from..]) {
                let end =
                    part.find(|c: char| !c.is_alphanumeric() && c != '-').unwrap_or(part.len());
                assert!(released.contains(&part[..end]), "{form}: {}", &part[..end]);
            }
            assert!(
                !text.contains("917") || released.contains("917"),
                "{form}: the greatest age of a row that was left out"
            );
            assert!(!text.contains("8191"), "no seed");
        }
        let reported = numbers(&dir, &format!("r{at}.json"));
        strict(&reported, 20);
        // The other edition tells all of it: what is looked for is there to be found.
        dir.succeed(
            &line
                .replace("public", "internal")
                .replace(" -o r", " -o i")
                .replace("--json r", "--json i"),
        );
        for text in [dir.text(&format!("i{at}.html")), dir.text(&format!("i{at}.json"))] {
            assert!(text.contains(&format!("{CANARY}-town0")), "{form}");
        }
    }
}

/// No count of the source is below the least one, and none is exact.
fn strict(reported: &Value, least: u64) {
    let below = Value::from(format!("<{least}"));
    let grain = least.max(10);
    let guarded = |count: &Value| {
        *count == below
            || count.as_u64().is_some_and(|rows| rows >= grain && rows.is_multiple_of(grain))
    };
    assert_eq!(reported["least_count"], least);
    assert!(
        reported["rows"]["suppressed"] == below || reported["rows"]["suppressed"] == 0,
        "{:#}",
        reported["rows"]
    );
    assert!(
        reported["rows"]["suppressed"] == 0 || reported["rows"]["source"].is_null(),
        "the difference tells"
    );
    assert!(reported["classes"]["before"].is_null());
    for band in reported["class_sizes"].as_array().unwrap() {
        assert!(guarded(&band["rows_before"]), "{band}");
    }
    for line in reported["risk"].as_object().unwrap().values() {
        assert!(line["rows_before"].is_null() || guarded(&line["rows_before"]), "{line}");
        assert!(line["rows_before"] != below || line["before"].is_null(), "{line}");
    }
    // The length of a column is in every penalty, and what the release withholds in every
    // distribution.
    assert!(
        reported["loss"].is_null() && reported["distributions"].as_array().unwrap().is_empty(),
        "{reported:#}"
    );
    assert!(
        reported["columns"]
            .as_array()
            .unwrap()
            .iter()
            .all(|column| column["ncp"].is_null() && column["role"] != "dropped")
    );
    assert!(reported["risk"]["average"]["before"].is_null());
    assert!(reported["cells_changed"].as_f64().is_some());
}

#[test]
fn folders_are_not_told_to_everybody() {
    let dir = Workdir::with_patients(100);
    std::fs::create_dir(dir.path("secretfolder")).unwrap();
    dir.write("secretfolder/p.csv", dir.read("patients.csv"));
    dir.succeed(&format!("anonymize secretfolder/p.csv -o secretfolder/s.csv {FLAGS} {QUICK}"));
    for (edition, is_told) in [("internal", true), ("public", false)] {
        dir.succeed(&format!(
            "report secretfolder/p.csv secretfolder/s.csv {FLAGS} -o r.html --json r.json --force --edition {edition}"
        ));
        assert_eq!(dir.text("r.html").contains("secretfolder"), is_told, "{edition}");
        assert_eq!(dir.text("r.json").contains("secretfolder"), is_told, "{edition}");
    }
}
