//! Columns published unchanged: who knows them finds persons, whatever k is. And releases that look
//! better than they are.

use std::fmt::Write as _;

use serde_json::Value;

use crate::workdir::{CANARY, Workdir};

/// A census: quasi-identifiers, sixteen columns of few values, a survey weight.
fn census(rows: u64) -> Workdir {
    let dir = Workdir::new();
    let mut text = String::from("age,sex,marital,household,weight_of_sample,income");
    (0..16).for_each(|at| write!(text, ",c{at}").unwrap());
    text.push('\n');
    for i in 0..rows {
        let random = |salt: u64| {
            let x = (i * 64 + salt + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (x ^ (x >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33
        };
        let age = random(1) % 80;
        let is_child = age < 20;
        let pick =
            |of: &[&'static str], salt: u64| of[usize::try_from(random(salt)).unwrap() % of.len()];
        let marital = if is_child { "never" } else { pick(&["never", "yes", "widow"], 2) };
        let household = if is_child { "child" } else { pick(&["head", "other"], 3) };
        let sex = pick(&["f", "m"], 4);
        let income = if random(6) % 20 == 0 { "high" } else { "low" };
        write!(text, "{age},{sex},{marital},{household},{}.25,{income}", 100 + random(5) % 3_000)
            .unwrap();
        (0..16).for_each(|at| write!(text, ",{CANARY}{}", random(10 + at) % 3).unwrap());
        text.push('\n');
    }
    dir.write("census.csv", text);
    dir
}

const QUASI: &str = "--qi age,sex,marital -k 10 --steps 1 --bound none";

/// The rows of a table that no other row equals in these columns, by a count of its lines.
fn unique(text: &str, columns: &[&str]) -> u64 {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let places: Vec<usize> =
        columns.iter().map(|name| header.iter().position(|head| head == name).unwrap()).collect();
    let mut seen = std::collections::BTreeMap::new();
    for line in lines {
        *seen.entry(places.iter().map(|&at| line[at]).collect::<Vec<_>>()).or_insert(0_u64) += 1;
    }
    seen.values().filter(|&&rows| rows == 1).count() as u64
}

#[test]
fn columns_that_nobody_named_need_a_conscious_yes_where_many_rows_are_unique() {
    let dir = census(1_500);
    let text = dir.text("census.csv");
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let beside: Vec<&str> = header[3..].to_vec();
    let together = unique(&text, &beside);
    assert!(together > 1_400, "{together}");
    let line = format!("anonymize census.csv -o out.csv {QUASI} --rest keep");
    let refused = dir.run(&line);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let number = format!("{} of 1,500 rows (", lookalike::numbers::count(together));
    for words in [&number, "unique on the 19 columns that are", "--accept-unique", "--keep A,B"] {
        assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
    }
    assert!(!refused.stderr.contains(CANARY) && !dir.path("out.csv").exists());
    // A conscious yes, or names: the number stands in the summary and in the JSON.
    let named = format!("--keep {}", beside.join(","));
    for yes in ["--rest keep --accept-unique", &named] {
        let run =
            dir.succeed(&format!("anonymize census.csv -o out.csv {QUASI} {yes} --force --json"));
        assert!(run.stderr.contains(&format!("beside    {number}")), "{}", run.stderr);
        assert!(run.stderr.contains("finds the row, whatever k is"), "{}", run.stderr);
        let json: Value = serde_json::from_str(&run.stdout).unwrap();
        let found = &json["unique_rows"];
        assert_eq!((&found["rows"], &found["together"]), (&1_500.into(), &together.into()));
        let released = dir.text("out.csv");
        assert_eq!(found["with_quasi"], unique(&released, &header), "{found}");
        for alone in found["alone"].as_array().unwrap() {
            let column = alone["column"].as_str().unwrap();
            assert_eq!(alone["unique"], unique(&text, &[column]), "{column}");
        }
    }
    // The same numbers in check and report; the tile no longer says 10 % alone.
    let check = dir.json("check census.csv --qi age,sex,marital --rest keep --json");
    assert_eq!(check["unique_rows"]["together"], together);
    assert_eq!(check["unique_rows"]["with_quasi"], unique(&text, &header));
    let text = dir.succeed("check census.csv --qi age,sex,marital --rest keep").stdout;
    assert!(text.contains(&format!("beside    {number}")), "{text}");
    let measured = dir.json("check census.csv --qi age,sex,marital --json");
    assert!(measured["unique_rows"].is_null(), "nothing says that these are published");
    for edition in ["internal", "public"] {
        dir.succeed(&format!(
            "report census.csv out.csv -k 10 --qi age,sex,marital {named} --edition {edition} -o r.html \
             --json r.json --bound none --queries 0 --quiet --force"
        ));
        let page = dir.text("r.html");
        assert!(page.contains("of the rows are unique on the 19 columns published unchanged"));
        assert!(page.contains("for who knows only the quasi-identifiers"), "{page}");
        assert!(page.contains("<p class=\"verdict bad\">"), "{page}");
        let json: Value = serde_json::from_str(&dir.text("r.json")).unwrap();
        assert_eq!(json["unique_rows"]["together"], together);
    }
}

/// The lines of a run's warnings.
fn warnings(dir: &Workdir, line: &str) -> Vec<String> {
    let run = dir.succeed(line);
    let lines = run.stderr.lines().filter_map(|line| line.strip_prefix("warning: "));
    lines.map(String::from).collect()
}

#[test]
fn names_and_near_dependencies_are_warned_of_whatever_the_role() {
    let dir = census(1_500);
    for role in ["--keep", "--sensitive"] {
        let line =
            format!("anonymize census.csv -o out.csv {QUASI} {role} household --rest drop --force");
        let said = warnings(&dir, &line);
        let near = "gives the quasi-identifier `marital` for 2";
        assert!(said.iter().any(|said| said.contains(near)), "{said:?}");
        // A column without such values has no such warning.
        let said = warnings(&dir, &line.replace("household", "c1"));
        assert!(said.iter().all(|said| !said.contains("quasi-identifier")), "{said:?}");
    }
    // Names that repeat: few are unique, and none determines anything.
    let row = |i: usize| format!("{},{},N{CANARY}{}\n", i * 7 % 50, i * 5 % 7 % 2, i * i % 61);
    dir.write("names.csv", format!("age,sex,surname\n{}", (0..600).map(row).collect::<String>()));
    for role in ["--keep", "--sensitive"] {
        let line = format!(
            "anonymize names.csv -o out.csv --qi age,sex -k 5 --steps 1 --bound none {role} surname --force"
        );
        let said = warnings(&dir, &line);
        let name = "may name persons: \"surname\" in its name points at them";
        assert!(said.iter().any(|said| said.contains(name)), "{said:?}");
        assert!(said.iter().all(|said| !said.contains(CANARY)), "{said:?}");
    }
}

#[test]
fn a_sampling_weight_is_published_with_the_rows_that_it_singles_out() {
    let dir = census(1_500);
    let unique = unique(&dir.text("census.csv"), &["weight_of_sample"]);
    let line = format!(
        "anonymize census.csv -o out.csv {QUASI} --sampling-weight weight_of_sample --rest drop"
    );
    let said = warnings(&dir, &line);
    let singled = format!("is the sampling weight and published unchanged: {unique} of 1,500 rows");
    assert!(said.iter().any(|said| said.contains(&singled)), "{said:?}");
    assert!(dir.text("out.csv").lines().next().unwrap().contains("weight_of_sample"));
    // Not numbers, not above 0, missing; never a quasi-identifier.
    for cell in ["x", "0", "-3", ""] {
        dir.write("w.csv", format!("age,w\n30,1.5\n30,{cell}\n30,2\n"));
        for command in ["anonymize w.csv -o w_out.csv", "check w.csv"] {
            let run = dir.run(&format!("{command} -k 2 --qi age --sampling-weight w"));
            assert_eq!(run.code, Some(3), "{cell}: {run:?}");
            assert!(
                run.stderr.contains("column `w`, data row 2: not a sampling weight"),
                "{run:?}"
            );
        }
    }
    let run = dir.run("anonymize w.csv -o w_out.csv -k 2 --qi age,w --sampling-weight w");
    assert!(run.code == Some(2) && run.stderr.contains("a column has one role"), "{run:?}");
}

#[test]
fn init_proposes_the_weight_of_a_survey_and_no_other_weight() {
    let dir = Workdir::new();
    let row = |i: usize| {
        format!(
            "{},{}.{},{},{}.2718,{}\n",
            i % 50,
            60 + i % 31,
            i % 10,
            i * 77_351 % 900_001 + 1,
            i % 97,
            i % 3
        )
    };
    for (header, expected) in [
        ("age,weight,fnlwgt,score_a,x", ["quasi", "weight"]),
        ("age,body_weight,instance_weight,score_a,x", ["quasi", "weight"]),
        ("age,birth weight,PWGTP,score_a,x", ["quasi", "weight"]),
        ("age,weight_kg,finalwt,score_a,x", ["quasi", "weight"]),
    ] {
        dir.write("s.csv", format!("{header}\n{}", (0..600).map(row).collect::<String>()));
        let toml = dir.succeed("init s.csv -o -").stdout;
        let line = |name: &str| {
            let lines =
                toml.lines().map(|line| line.trim_start_matches("#? ").trim_start_matches('"'));
            lines.clone().find(|line| line.starts_with(name)).unwrap().to_string()
        };
        let role = |name: &str| {
            line(name).split("role = \"").nth(1).unwrap().split('"').next().unwrap().to_string()
        };
        let roles: Vec<String> = header.split(',').skip(1).take(2).map(role).collect();
        assert_eq!(roles, expected, "{header}");
    }
    // Four decimals and values below 1 are of no scale; a second weight is not published.
    dir.write("s.csv", format!("age,a,pwgtp,weight,x\n{}", (0..600).map(row).collect::<String>()));
    dir.succeed("init s.csv -o s.toml");
    let toml = dir.text("s.toml");
    assert!(toml.contains("pwgtp  = { role = \"weight\""), "{toml}");
    assert!(toml.contains("weight = { role = \"identifier\""), "{toml}");
    dir.write("s.csv", format!("age,a,b,weight,x\n{}", (0..600).map(row).collect::<String>()));
    dir.succeed("init s.csv -o s.toml --force");
    assert!(dir.text("s.toml").contains("weight = { role = \"weight\""));
    // Pounds that were converted have decimals too.
    let body = dir.text("s.csv").replace(",0.2718,", ",61.2718,");
    dir.write("body.csv", body);
    dir.succeed("init body.csv -o body.toml");
    assert!(dir.text("body.toml").contains("weight = { role = \"quasi\""));
    // A number of 0 is no weight.
    let with_zero = dir.text("s.csv").replace("weight", "pwgtp").replace(",0.2718,", ",0,");
    dir.write("s.csv", with_zero);
    dir.succeed("init s.csv -o s.toml --force");
    assert!(!dir.text("s.toml").contains("role = \"weight\""), "{}", dir.text("s.toml"));
}

#[test]
fn a_bound_that_does_not_know_the_rules_is_no_gap() {
    let dir = census(1_500);
    let roles = "--qi age,sex,marital -k 40 --sensitive income --rest drop";
    let line =
        format!("anonymize census.csv -o out.csv {roles} --steps 1 --bound full --force --json");
    let plain = dir.succeed(&line);
    assert!(plain.stderr.contains("× the lower bound"), "{}", plain.stderr);
    let ruled = dir.succeed(&format!("{line} --alpha income=0.95"));
    assert!(
        ruled.stderr.contains("for k alone: no release loses less; further rules may need more")
            && !ruled.stderr.contains('×')
            && !ruled.stderr.contains("no loss is necessary"),
        "{}",
        ruled.stderr
    );
    let json: Value = serde_json::from_str(&ruled.stdout).unwrap();
    assert!(json["bound"]["gap"].is_null() && json["bound"]["knows_rules"] == false, "{json}");
    let report =
        format!("report census.csv out.csv {roles} --alpha income=0.95 --bound full --queries 0");
    dir.succeed(&format!("{report} -o r.html --json r.json --quiet"));
    assert!(dir.text("r.html").contains("Lower bound for k alone"));
    let json: Value = serde_json::from_str(&dir.text("r.json")).unwrap();
    assert!(json["loss"]["bound"]["gap"].is_null(), "{json}");
    let compare = format!("compare census.csv {roles} --algorithms mondrian --bound full");
    let ruled = dir.succeed(&format!("{compare} --alpha income=0.95")).stdout;
    assert!(ruled.contains("bound for k alone"), "{ruled}");
    assert!(!dir.succeed(&compare).stdout.contains("k alone"));
}

#[test]
fn a_release_that_lost_most_of_its_detail_is_warned_of() {
    let dir = census(60);
    let line = "anonymize census.csv -o out.csv --qi age,sex,marital -k 40 --rest drop --steps 1 --bound none --force";
    let said = warnings(&dir, line);
    let run = dir.json(&format!("{line} --json"));
    assert!(run["loss"]["gcp"].as_f64().unwrap() > 0.9, "{run}");
    assert!(said.iter().any(|said| said.contains("almost no detail")), "{said:?}");
}

#[test]
fn a_loss_of_0_says_which_columns_it_is_about() {
    let dir = Workdir::with_patients(400);
    let line =
        "anonymize patients.csv -k 5 --qi age,sex --weight age=0 --rest drop -o out.csv --steps 1";
    let said = dir.succeed(line).stderr;
    assert!(said.contains("0.0 % of the detail of the columns with a weight above 0"), "{said}");
}

#[test]
fn text_among_few_numbers_is_counted_and_never_shown() {
    let dir = Workdir::new();
    let rows = |texts: [&str; 4]| -> String {
        (0..40).map(|i| format!("{},x\n", texts[i % 4])).collect::<String>()
    };
    let line = "anonymize t.csv --qi a --rest drop -k 2 --bound none --force -o out.csv";
    let said = |texts: [&str; 4], more: &str| {
        dir.write("t.csv", format!("a,b\n{}", rows(texts)));
        dir.succeed(&format!("{line} {more}")).stderr
    };
    let warned = said(["1", "2", "3", CANARY], "");
    for part in ["column `a` is taken for labels", "10 rows have text", "--missing", "--kind a="] {
        assert!(warned.contains(part), "{part}: {warned}");
    }
    assert!(!warned.contains(CANARY), "{warned}");
    for (texts, more) in [
        (["1", "2", "3", CANARY], "--kind a=categorical"),
        (["1", "2", "3", CANARY], &format!("--missing {CANARY}") as &str),
        (["1", "2", "3", "4"], ""),
        (["01", "02", "03", "x"], ""),
        (["1", "p", "q", "r"], ""),
    ] {
        let plain = said(texts, more);
        assert!(!plain.contains("is taken for labels"), "{texts:?} {more}: {plain}");
    }
}
