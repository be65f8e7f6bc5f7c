use crate::workdir::{QUICK, Workdir};

#[test]
fn the_same_seed_makes_the_same_table_in_every_format() {
    let dir = Workdir::new();
    dir.succeed("synth census --rows 70000 --seed 3 -o a.csv");
    dir.succeed("synth census --rows 70000 --seed 3 --threads 1 -o b.csv");
    assert!(dir.read("a.csv") == dir.read("b.csv"));
    assert_eq!(dir.text("a.csv").lines().count(), 70_001);
    dir.succeed("synth census --rows 70000 --seed 4 -o c.csv");
    assert!(dir.read("a.csv") != dir.read("c.csv"));
    dir.succeed("synth hospital --rows 50 -o h.parquet");
    dir.succeed("synth hospital --rows 50 -o h.csv");
    let check = |file: &str| {
        dir.json(&format!("check {file} --qi age,zip,sex --sensitive diagnosis --json"))
    };
    assert_eq!(check("h.parquet"), check("h.csv"));
    assert_eq!(dir.succeed("synth hospital --rows 3 -o -").stdout.lines().count(), 4);
}

/// Experiments take the first columns, so their order is part of the table.
#[test]
fn the_stand_ins_have_the_columns_of_the_paper_in_its_order() {
    let dir = Workdir::new();
    for (kind, head) in [
        ("sal", "age,gender,education,marital,race,workclass,country,occupation"),
        ("income", "age,occupation,birthplace,gender,education,race,workclass,marital,income"),
    ] {
        let text = dir.succeed(&format!("synth {kind} --rows 500 -o -")).stdout;
        assert_eq!(text.lines().next(), Some(head));
        assert!(
            text.lines()
                .skip(1)
                .flat_map(|line| line.split(','))
                .all(|cell| cell.parse::<u32>().is_ok()),
            "codes are numbers"
        );
        dir.write("t.csv", &text);
        dir.succeed(&format!("anonymize t.csv -o safe.csv --force --quiet --qi age,gender,education --rest drop -k 10 {QUICK}"));
    }
}

#[test]
fn an_unknown_table_or_an_existing_file_is_refused() {
    let dir = Workdir::new();
    dir.write("h.csv", "mine");
    assert_eq!(dir.run("synth nothing -o a.csv").code, Some(2));
    assert_eq!(dir.run("synth hospital -o h.csv").code, Some(2));
    assert_eq!(dir.text("h.csv"), "mine");
}
