//! What hostile tests found about the format: the audit must read every release as the engine wrote
//! it, and no two classes may look alike.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, MapBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BinaryArray, FixedSizeBinaryArray, Float64Array, Int32Array, StringArray,
    StructArray, UnionArray,
};
use arrow_schema::{DataType, Field, UnionFields};

use crate::workdir::Workdir;

/// Anonymizes and verifies against the source; both must succeed.
fn holds(dir: &Workdir, source: &str, release: &str, flags: &str, how: &str) {
    let proof = if how.contains("ring") { "--proof ring.proof" } else { "" };
    dir.succeed(&format!("anonymize {source} -o {release} --force --quiet {flags} {how} {proof}"));
    let raw = if how.contains("--raw-formulas") { "--raw-formulas" } else { "" };
    dir.succeed(&format!("verify {release} --source {source} {flags} {proof} {raw}"));
}

const RING: &str = "--algorithm ring --non-homogeneous";

#[test]
fn cells_with_an_apostrophe_of_their_own_come_back_as_they_were() {
    let dir = Workdir::new();
    dir.write("t.csv", "a,s\n1,'=x\n1,=x\n2,b\n2,c\n3,''@y\n3,'tis\n4,-\n4,- 50000\n5,'-5\n5,-x\n");
    let flags = "--qi a --sensitive s -k 2";
    for how in ["", RING, "--raw-formulas"] {
        holds(&dir, "t.csv", "o.csv", flags, how);
    }
    holds(&dir, "t.csv", "o.parquet", flags, "");
    dir.succeed(&format!("anonymize t.csv -o o.csv --force {flags} --algorithm mondrian"));
    let text = dir.text("o.csv");
    for cell in ["''=x", "'=x", "'''@y", "'tis", "-", "- 50000", "'-5", "'-x"] {
        assert!(text.lines().any(|line| line.ends_with(&format!(",{cell}"))), "{cell}: {text}");
    }
}

#[test]
fn alpha_on_a_value_with_an_apostrophe_counts_that_value_alone() {
    let dir = Workdir::new();
    let rows = |own: usize, bare: usize| {
        format!("a,s\n{}{}", "1,'=x\n".repeat(own), "1,=x\n".repeat(bare))
    };
    let request = |value: &str| {
        format!(
            "k = 2\n[columns]\na = {{ role = \"quasi\" }}\ns = {{ role = \"sensitive\", alpha = 0.25, values = [\"{value}\"] }}\n"
        )
    };
    dir.write("t.csv", rows(2, 6));
    for (value, code) in [("'=x", 0), ("=x", 1)] {
        dir.write("c.toml", request(value));
        for release in ["o.csv", "o.parquet"] {
            let run = dir.run(&format!("anonymize t.csv -c c.toml -o {release} --force"));
            assert_eq!(run.code, Some(code), "{value} {release}: {run:?}");
            if code == 0 {
                dir.succeed(&format!("verify {release} --source t.csv -c c.toml"));
            }
        }
    }
}

#[test]
fn names_of_columns_are_guarded_and_read_back() {
    let dir = Workdir::new();
    dir.write("t.csv", "=cmd|calc!A1,'=q,s\n1,3,x\n2,3,y\n3,4,x\n4,4,y\n");
    dir.write(
        "c.toml",
        "k = 2\n[columns]\n\"=cmd|calc!A1\" = { role = \"quasi\" }\n\"'=q\" = { role = \"quasi\" }\ns = { role = \"sensitive\", l = 2 }\n",
    );
    for how in ["", RING, "--publish bounds"] {
        holds(&dir, "t.csv", "o.csv", "-c c.toml", how);
    }
    assert!(
        dir.text("o.csv").starts_with("'=cmd|calc!A1_min,'=cmd|calc!A1_max,''=q_min,''=q_max,s\n"),
        "{}",
        dir.text("o.csv")
    );
    dir.succeed("query t.csv o.csv -c c.toml --random 5");
    dir.succeed("report t.csv o.csv -c c.toml --queries 5");
    holds(&dir, "t.csv", "o.parquet", "-c c.toml", "");
    holds(&dir, "t.csv", "raw.csv", "-c c.toml", "--raw-formulas");
    assert!(dir.text("raw.csv").starts_with("=cmd|calc!A1,'=q,s\n"));
    dir.succeed("verify raw.csv --source t.csv -c c.toml");
}

/// Numbers that are no numbers, and years before 0, are texts in a text file.
#[test]
fn typed_cells_that_begin_like_a_formula_do_not_hide_the_guards_of_others() {
    let dir = Workdir::new();
    let numbers: ArrayRef =
        Arc::new(Float64Array::from(vec![f64::NEG_INFINITY, -1.5, 2.0, f64::NAN]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["=x", "'=x", "y", "z"]));
    let ages: ArrayRef = Arc::new(Int32Array::from(vec![1, 1, 2, 2]));
    dir.write_typed("t.parquet", vec![("a", ages), ("x", numbers), ("s", texts)]);
    holds(
        &dir,
        "t.parquet",
        "o.csv",
        "--qi a --sensitive s --keep x --accept-dependent x -k 2",
        "",
    );
    assert!(
        dir.text("o.csv").contains(",'-inf,") && dir.text("o.csv").contains(",-1.5,"),
        "{}",
        dir.text("o.csv")
    );
}

#[test]
fn the_delimiter_of_a_hierarchy_is_that_of_all_its_lines() {
    let dir = Workdir::new();
    dir.write(
        "t.csv",
        "a,s\nx;y,1\nz,2\nx;y,3\nu,4\n\"two\nlines\",5\nu,6\n\"two\nlines\",7\nz,8\n",
    );
    let flags = "--qi a --sensitive s -k 4 --hierarchy a=h.csv";
    for file in [
        "x;y,G,*\nz,G,*\nu,H,*\n\"two\nlines\",H,*\n",
        "\"two\nlines\",H,*\nz,G,*\n\"x;y\",G,*\nu,H,*\n",
        "\"two\nlines\";H;*\nz;G;*\n\"x;y\";G;*\nu;H;*\n",
    ] {
        dir.write("h.csv", file);
        for how in ["", RING, "--algorithm optimal"] {
            holds(&dir, "t.csv", "o.csv", flags, how);
        }
        let sensitive =
            "--qi s --sensitive a -k 4 --t a=0.9 --distance a=hierarchical --hierarchy a=h.csv";
        holds(&dir, "t.csv", "o.csv", sensitive, "");
    }
}

#[test]
fn a_missing_value_below_a_group_with_a_values_name_is_covered_by_it() {
    let dir = Workdir::new();
    dir.write("h.csv", ";europe;*\neurope;europe;*\nfrance;europe;*\nasia;asia;*\n");
    dir.write("t.csv", "a,s\n,1\n,2\neurope,3\nfrance,4\nasia,5\nasia,6\nasia,7\n");
    let flags = "--qi a --sensitive s -k 3 --hierarchy a=h.csv";
    for how in ["--algorithm mondrian", RING, "--algorithm optimal"] {
        holds(&dir, "t.csv", "o.csv", flags, how);
    }
    assert!(dir.text("o.csv").contains("europe (all),"), "{}", dir.text("o.csv"));
    // The value alone is not the group.
    dir.write("false.csv", dir.text("o.csv").replace("europe (all)", "europe"));
    assert_eq!(dir.run(&format!("verify false.csv --source t.csv {flags}")).code, Some(1));
}

#[test]
fn a_group_whose_name_means_missing_is_refused() {
    let dir = Workdir::new();
    dir.write("h.csv", "a;Unknown;*\nb;Unknown;*\nc;c;*\nd;d;*\n");
    dir.write("t.csv", "v,s\na,1\nb,2\nc,3\nd,4\n");
    let run = dir.run(
        "anonymize t.csv -o o.csv --qi v --sensitive s -k 2 --hierarchy v=h.csv --missing Unknown",
    );
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(
        run.stderr.contains("h.csv, line 1: the group in column 2 has a name that means missing"),
        "{}",
        run.stderr
    );
    // The line of the missing value may be written with any text that means missing.
    dir.write("h.csv", "a;G;*\nb;G;*\nUnknown;H;*\nd;H;*\n");
    dir.write("t.csv", "v,s\na,1\nb,2\nUnknown,3\nd,4\n");
    holds(
        &dir,
        "t.csv",
        "o.csv",
        "--qi v --sensitive s -k 2 --hierarchy v=h.csv --missing Unknown",
        "--algorithm mondrian",
    );
    assert!(dir.text("o.csv").contains("\nH,"), "{}", dir.text("o.csv"));
    // Labels that a specification makes can mean missing too.
    dir.write("t.csv", "v,s\n1900-01-01,1\n1900-02-01,2\n1901-03-01,3\n1901-04-01,4\n");
    let flags = "--qi v --sensitive s -k 2 --hierarchy v=date:year --snap --missing 1900";
    let run = dir.run(&format!("anonymize t.csv -o p.csv {flags}"));
    assert!(run.code == Some(2) && run.stderr.contains("a text that means missing"), "{run:?}");
    assert!(!dir.path("p.csv").exists());
}

fn union() -> UnionArray {
    let fields = UnionFields::try_new(
        vec![0, 1],
        vec![Field::new("n", DataType::Int32, true), Field::new("t", DataType::Utf8, true)],
    )
    .unwrap();
    let children: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![1, 2, 3, 4])),
        Arc::new(StringArray::from(vec!["a", "b", "c", "d"])),
    ];
    UnionArray::try_new(fields, vec![0, 1, 0, 1].into(), None, children).unwrap()
}

#[test]
fn kept_columns_of_every_type_are_compared() {
    let dir = Workdir::new();
    let mut lists = ListBuilder::new(StringBuilder::new());
    let mut maps = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    for row in 0..4 {
        if row == 2 {
            lists.append_null();
        } else {
            lists.append_value([Some(format!("item {row}")), None]);
        }
        maps.keys().append_value(format!("key {row}"));
        maps.values().append_value("v");
        maps.append(row != 1).unwrap();
    }
    let parts: ArrayRef = Arc::new(Int32Array::from(vec![Some(7), None, Some(9), Some(9)]));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("a", Arc::new(Int32Array::from(vec![1, 2, 3, 4]))),
        (
            "binary",
            Arc::new(BinaryArray::from(vec![&b"\xff\x00"[..], b"\xfe", b"12e5", b"1200000"])),
        ),
        (
            "fixed",
            Arc::new(
                FixedSizeBinaryArray::try_from_iter(
                    [b"\xff1", b"\xff2", b"\xff3", b"\xff4"].into_iter(),
                )
                .unwrap(),
            ),
        ),
        ("lists", Arc::new(lists.finish())),
        (
            "struct",
            Arc::new(StructArray::from(vec![(
                Arc::new(Field::new("n", DataType::Int32, true)),
                parts,
            )])),
        ),
        ("maps", Arc::new(maps.finish())),
    ];
    dir.write_typed("t.parquet", columns.clone());
    let flags = "--qi a --keep binary,fixed,lists,struct,maps -k 2 --accept-dependent binary --accept-dependent fixed --accept-dependent lists \
                 --accept-dependent struct --accept-dependent maps";
    for how in ["", RING] {
        holds(&dir, "t.parquet", "o.parquet", flags, how);
        holds(&dir, "t.parquet", "o.arrow", flags, how);
    }
    // Another source: one byte differs, one item, one null.
    for (at, changed) in [
        (
            1,
            Arc::new(BinaryArray::from(vec![&b"\xff\x00"[..], b"\xfe", b"12e5", b"1200001"]))
                as ArrayRef,
        ),
        (
            4,
            Arc::new(StructArray::from(vec![(
                Arc::new(Field::new("n", DataType::Int32, true)),
                Arc::new(Int32Array::from(vec![Some(7), Some(0), Some(9), Some(9)])) as ArrayRef,
            )])),
        ),
    ] {
        let mut others = columns.clone();
        others[at].1 = changed;
        dir.write_typed("other.parquet", others);
        let run = dir.run(&format!("verify o.parquet --source other.parquet {flags}"));
        assert_eq!(run.code, Some(1), "{run:?}");
    }
    let run = dir.run(&format!("anonymize t.parquet -o o.csv {flags}"));
    assert!(run.code == Some(2) && run.stderr.contains("write Parquet instead"), "{run:?}");
}

#[test]
fn a_union_goes_to_arrow_and_is_refused_for_parquet() {
    let dir = Workdir::new();
    dir.write_typed(
        "t.arrow",
        vec![("a", Arc::new(Int32Array::from(vec![1, 2, 3, 4]))), ("u", Arc::new(union()))],
    );
    let flags = "--qi a --keep u --accept-dependent u -k 2";
    let run = dir.run(&format!("anonymize t.arrow -o o.parquet {flags}"));
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(
        run.stderr.contains("column `u` is of type Union")
            && run.stderr.contains("write Arrow instead"),
        "{}",
        run.stderr
    );
    holds(&dir, "t.arrow", "o.arrow", flags, "");
}

#[test]
fn a_nul_is_refused_for_text_files_with_its_place() {
    let dir = Workdir::new();
    let column = |cells: [&str; 4]| Arc::new(StringArray::from(cells.to_vec())) as ArrayRef;
    let (clean, bad) = (column(["p", "p", "q", "q"]), column(["p", "p", "q", "q\0secret"]));
    for (a, s, named) in [(&clean, &bad, "s"), (&bad, &clean, "a")] {
        dir.write_typed("t.parquet", vec![("a", a.clone()), ("s", s.clone())]);
        let flags = "--qi a --sensitive s -k 2";
        let run = dir.run(&format!("anonymize t.parquet -o o.csv {flags}"));
        assert_eq!(run.code, Some(3), "{run:?}");
        assert!(
            run.stderr.contains(&format!("column `{named}`, data row 4: the cell has a NUL")),
            "{}",
            run.stderr
        );
        assert!(
            run.stderr.contains("write Parquet") && !run.stderr.contains("secret"),
            "{}",
            run.stderr
        );
        holds(&dir, "t.parquet", "o.parquet", flags, "");
    }
}

/// The rows of the release by what they show of the first column.
fn shown(text: &str) -> Vec<(String, usize)> {
    let mut labels: Vec<String> =
        text.lines().skip(1).map(|line| line.rsplit_once(',').unwrap().0.to_string()).collect();
    labels.sort();
    labels.chunk_by(|a, b| a == b).map(|run| (run[0].clone(), run.len())).collect()
}

#[test]
fn a_value_that_reads_like_a_set_is_not_published_like_one() {
    let dir = Workdir::new();
    dir.write("t.csv", "a,s\np,1\nq,2\n\"{p, q}\",3\n\"{p, q}\",4\nr,5\nr,6\n");
    dir.write("h.csv", "p;*\nq;*\n{p, q};*\nr;*\n");
    let flags = "--qi a --kind a=categorical --sensitive s -k 2";
    for (how, file) in [
        ("--algorithm optimal --scheme sps", ""),
        ("--publish set --algorithm cluster", ""),
        ("--publish set", ""),
        ("--publish set", "--hierarchy a=h.csv"),
        ("--algorithm optimal --scheme sps", "--hierarchy a=h.csv"),
    ] {
        holds(&dir, "t.csv", "o.csv", &format!("{flags} {file}"), &format!("{how} --seed 1"));
        let labels = shown(&dir.text("o.csv"));
        let expected = [("\"{\"\"{p, q}\"\"}\"", 2), ("\"{p, q}\"", 2), ("r", 2)]
            .map(|(label, rows)| (label.to_string(), rows));
        assert_eq!(labels, expected, "{how} {file}");
    }
    // Without sets it stands in braces all the same, so that a reader has one rule.
    holds(&dir, "t.csv", "o.csv", flags, "--algorithm mondrian");
    assert!(dir.text("o.csv").contains("\"{\"\"{p, q}\"\"}\",3"), "{}", dir.text("o.csv"));
    dir.succeed(&format!("query t.csv o.csv {flags} --random 5"));
}

#[test]
fn labels_that_could_be_taken_for_others_are_refused() {
    let dir = Workdir::new();
    dir.write("t.csv", "a,s\np,1\np,2\nq,3\nq,4\n");
    let refused = |flags: &str, why: &str| {
        let run = dir.run(&format!("anonymize t.csv -o o.csv --qi a --sensitive s -k 2 {flags}"));
        assert!(run.code == Some(2) || run.code == Some(3), "{flags}: {run:?}");
        assert!(run.stderr.contains(why), "{flags}: {}", run.stderr);
        assert!(!dir.path("o.csv").exists());
    };
    dir.write("h.csv", "p;*;any\nq;*;any\n");
    refused("--hierarchy a=h.csv", "only the root may have it");
    dir.write("h.csv", "p;p;*\nq;p;*\np (all);G;*\n");
    refused("--hierarchy a=h.csv", "p (all)");
    for order in ["p,q,{p}", "p,q,p .. q", "p,q,q .."] {
        dir.write("order.txt", order.replace(',', "\n"));
        refused("--order a=order.txt", "reads like a range or a set");
    }
    dir.write("t.csv", "a,s\np,1\n*,2\nq,3\nq,4\n");
    refused("", "data row 2: the cell is `*`");
    dir.write("h.csv", "p;any\nq;any\n*;any\n");
    refused("--hierarchy a=h.csv", "only the root may have it");
    dir.write(
        "t.csv",
        "a,s\n2024-03-17,1\n2024-03-17T10:00:00,2\n2024-03-17T11:00:00,3\n2024-03-18,4\n",
    );
    refused(
        "--hierarchy a=date:day,month --snap",
        "a day and its midnight would have the same label",
    );
}

#[test]
fn rules_on_a_numeric_column_count_numbers_not_spellings() {
    let dir = Workdir::new();
    dir.write("t.csv", "a,s\n1,5\n1,5.0\n2,7\n2,7.00\n");
    let flags = "--qi a --sensitive s -k 2";
    for rule in
        ["--l s=2", "--distinct-l s=2", "--entropy-l s=2", "--recursive s=2:2", "--alpha s=0.5"]
    {
        // As texts every class has two values, as numbers one.
        dir.succeed(&format!(
            "anonymize t.csv -o text.csv --force {flags} {rule} --kind s=categorical"
        ));
        let run = dir.run(&format!("verify text.csv {flags} {rule} --kind s=numeric"));
        assert_eq!(run.code, Some(1), "{rule}: {run:?}");
        holds(
            &dir,
            "t.csv",
            "o.csv",
            &format!("{flags} {rule} --kind s=numeric"),
            "--algorithm mondrian",
        );
        holds(&dir, "t.csv", "o.csv", &format!("{flags} {rule} --kind s=numeric"), RING);
        assert!(dir.text("text.csv") != dir.text("o.csv"));
        assert_eq!(
            dir.run(&format!("check t.csv {flags} {rule} --kind s=numeric")).code,
            Some(1),
            "{rule}"
        );
    }
    let measures = dir.json(&format!("check t.csv {flags} --kind s=numeric --json"));
    let sensitive = &measures["measures"]["sensitive"][0];
    assert_eq!((&sensitive["values"], &sensitive["distinct"]), (&2.into(), &1.into()));
    // Both classes have both numbers: nothing has to be hidden.
    dir.write("t.csv", "a,s\n1,5\n1,7.0\n2,5.0\n2,7\n");
    holds(
        &dir,
        "t.csv",
        "o.csv",
        &format!("{flags} --t s=0.1 --kind s=numeric"),
        "--algorithm mondrian",
    );
    assert_eq!(dir.text("o.csv").matches("\n1,").count(), 2, "{}", dir.text("o.csv"));
    // More digits than a floating-point number has are still digits.
    dir.write("t.csv", "a,s\n1,9007199254740993\n1,9007199254740992\n2,0.10\n2,.2\n");
    holds(
        &dir,
        "t.csv",
        "o.csv",
        &format!("{flags} --l s=2 --kind s=numeric"),
        "--algorithm mondrian",
    );
    assert_eq!(dir.text("o.csv").matches("\n1,").count(), 2, "the classes hold as they are");
}

#[test]
fn rules_on_dates_count_instants_and_values_are_named_in_any_spelling() {
    let dir = Workdir::new();
    dir.write(
        "t.csv",
        "a,s\n1,2024-03-17\n1,2024-03-17T00:00:00\n2,2024-03-17T02:00:00+02:00\n2,2024-03-18\n",
    );
    let flags = "--qi a --sensitive s -k 2 --kind s=date";
    let run = dir.run(&format!("anonymize t.csv -o o.csv {flags} --l s=2"));
    assert_eq!(run.code, Some(1), "three of four rows have one instant: {run:?}");
    let alpha = format!("{flags} --alpha s=0.75 --values s=2024-03-17");
    holds(&dir, "t.csv", "o.csv", &alpha, "--algorithm mondrian");
    assert!(
        dir.text("o.csv").lines().skip(1).all(|line| line.starts_with("[1-2],")),
        "{}",
        dir.text("o.csv")
    );
    let run =
        dir.run("anonymize t.csv -o p.csv --qi a --sensitive s -k 2 --kind s=numeric --l s=2");
    assert!(run.code == Some(3) && run.stderr.contains("data row 1: not a number"), "{run:?}");
}

#[test]
fn spellings_that_probably_mean_the_same_are_warned_of() {
    let dir = Workdir::new();
    dir.write("t.csv", "a,s\n1,HIV\n1,HIV \n2,hiv\n2,flu\n3,5\n3,5.0\n");
    let run = dir.succeed("anonymize t.csv -o o.csv --qi a --sensitive s -k 2 --l s=2");
    assert!(
        run.stderr.contains("column `s`: 3 values differ from another only by case"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("HIV") && !run.stderr.contains("5.0"), "{}", run.stderr);
    dir.write("t.csv", "a,s\n1,HIV\n1,gout\n2,cold\n2,flu\n");
    let run = dir.succeed("anonymize t.csv -o o.csv --force --qi a --sensitive s -k 2 --l s=2");
    assert!(!run.stderr.contains("differ from another"), "{}", run.stderr);
}

/// The order says which is greater, also where all labels are numbers.
#[test]
fn the_ordered_distance_goes_by_the_order_that_is_given() {
    let dir = Workdir::new();
    dir.write("t.csv", "a,s\n1,1\n1,1\n2,3\n2,2\n3,3\n3,2\n");
    dir.write("order.txt", "3\n1\n2\n");
    // The class of 1 alone is 1/3 from the table in this order, and 1/2 in that of the numbers.
    let flags = "--qi a --sensitive s -k 2 --t s=0.4 --distance s=ordered --order s=order.txt";
    holds(&dir, "t.csv", "o.csv", flags, "--algorithm mondrian");
    assert_eq!(dir.text("o.csv").matches("\n1,1").count(), 2, "{}", dir.text("o.csv"));
}
