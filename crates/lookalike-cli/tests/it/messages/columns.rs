//! Values, orders and hierarchies of columns.

use super::Recorder;

const RUN: &str = "anonymize t.csv -o out.csv --bound none --qi a --rest drop -k 2";

pub(super) fn values(on: &mut Recorder) {
    let column = |cells: &[&str]| format!("a,b\n{}", cells.join(",x\n") + ",x\n");
    for (cells, flags) in [
        (&["31", "32", "thirty", "34", "35", "36", "37", "38", "39", "40", "41"][..], ""),
        (&["31", "32", "thirty", "34"], "--kind a=numeric"),
        (&["2024-01-01", "soon", "2024-01-03"], "--kind a=date"),
        (&["31", "32", "x", "34"], "--hierarchy a=intervals:5,10"),
        (&["9007199254740993", "9007199254740992", "1", "2"], "--kind a=numeric"),
        (&["1e308", "-1e308", "1", "2"], "--kind a=numeric"),
        (
            &["2024-01-01T00:30:00+02:00", "2023-12-31T22:30:00Z", "2024-02-01T00:00:00Z"],
            "--kind a=date --hierarchy a=date:month,year",
        ),
        (&["31", "32", "33"], "--kind a=numeric --hierarchy a=prefix:1"),
        (&["low", "high"], "--kind a=ordinal"),
        (&["low", "high"], "--order a=low,high,low"),
        (&["low", "high"], "--order a=low,[1-2],high"),
        (&["low", "high", "mid"], "--order a=low,high"),
        (&["low", "high"], "--kind a=categorical --hierarchy a=intervals:5"),
        (&["low", "*", "high"], "--kind a=categorical"),
    ] {
        on.with("t.csv", column(cells), &format!("{RUN} {flags}"));
    }
}

pub(super) fn hierarchy(on: &mut Recorder) {
    on.file("t.csv", "a,b\nf,1\nm,2\nf,1\nm,2\n");
    let line = format!("{RUN} --hierarchy a=h.csv");
    for content in [
        &b"f;*\n"[..],
        b"f;A;*\nm;A;*\no;A;B;*\n",
        b"f;A;X;*\nm;A;Y;*\n",
        b"f;A;B;*\nm;B;A;*\n",
        b"f;A;f;*\nm;A;A;*\n",
        b"f;A;*\nf;B;*\nm;B;*\n",
        b"f;A;*\nm;A;+\n",
        b"f;A;\nm;A;\n",
        b";A;*\nf;A;*\n",
        b"",
        b"f\nm\n",
        b"f;\xff;*\n",
        b"f;\0;*\n",
        b"f;\"A;*\n",
        b"value;group;root\nf;A;*\nm;B;*\n",
        b"f;A;*\nm;;*\n",
    ] {
        on.with("h.csv", content, &line);
    }
    on.fails(&format!("{RUN} --hierarchy a=nowhere.csv"));
    on.fails(&format!("{RUN} --hierarchy a=tmp"));
    on.with("h.csv", "f;NA;*\nm;NA;*\n", &format!("{line} --missing NA"));
    on.file("t.csv", "a,b\n1,1\n2,2\n3,1\n4,2\n");
    let line = format!("{RUN} --kind a=numeric --hierarchy a=h.csv");
    for content in [
        "1;A;*\n2;A;*\nx;B;*\n4;B;*\n",
        "1;A;*\n1.0;A;*\n2;A;*\n3;B;*\n4;B;*\n",
        "1;A;*\n2;B;*\n3;A;*\n4;B;*\n",
        "1;A;*\n2;A;*\n3;B;*\n",
    ] {
        on.with("h.csv", content, &line);
    }
    for how in [
        "intervals:0,5",
        "intervals:10,5",
        "intervals:5,7",
        "intervals:0.1234567890123456",
        "intervals:",
        "builtin:isco",
    ] {
        on.fails(&format!("{RUN} --kind a=numeric --hierarchy a={how}"));
    }
    let sizes = "k = 2\nrest = \"drop\"\n[columns]\na = { role = \"quasi\", kind = \"numeric\", hierarchy = ";
    let run = "anonymize t.csv -c c.toml -o out.csv";
    on.with("c.toml", format!("{sizes}{{ intervals = [5], bottom = 9, top = 1 }} }}"), run);
    on.with("c.toml", format!("{sizes}{{ intervals = [] }} }}"), run);
    on.file("t.csv", "a,b\n1e17,1\n2,2\n3,1\n4,2\n");
    on.fails(&format!("{RUN} --kind a=numeric --hierarchy a=intervals:5,10"));
    on.file("t.csv", "a,b\n12,1\n1*,2\n12,1\n13,2\n");
    for how in ["prefix:1,2", "prefix:0", "prefix:1"] {
        on.fails(&format!("{RUN} --kind a=categorical --hierarchy a={how}"));
    }
    on.file("t.csv", "a,b\n2024-01-01,1\n2024-01-02,2\nx,1\n");
    on.fails(&format!("{RUN} --kind a=categorical --hierarchy a=date:month"));
    on.file("t.csv", "a,b\n2024-01-01,1\n2024-01-02,2\n");
    on.fails(&format!("{RUN} --kind a=date --hierarchy a=date:year,month"));
}

pub(super) fn hierarchy_command(on: &mut Recorder) {
    on.file("h.csv", "f;*\n");
    on.fails("hierarchy check h.csv --data patients.csv --column sex --show-values");
    on.fails("man fly");
    on.with(
        "h.csv",
        "female;*\nmale;*\n",
        "hierarchy check h.csv --data patients.csv --column age",
    );
    on.fails("hierarchy check h.csv --data patients.csv --column colour");
    on.fails("hierarchy check nowhere.csv");
    on.fails("hierarchy show nowhere.csv");
    on.fails("hierarchy new prefix --keep 2,3 --data patients.csv --column zip -o out.csv");
    on.fails("hierarchy new date --units hour --data patients.csv --column zip -o out.csv");
    on.fails("hierarchy suggest --data patients.csv --column age -o out.csv");
    on.fails("hierarchy suggest --data patients.csv --column sex -o out.csv");
    on.file("t.csv", "a,b\n2024-01-01,1\n2024-01-02,2\n2024-02-02,2\n");
    on.fails("hierarchy suggest --data t.csv --column a -o out.csv");
    on.fails("hierarchy new date --units week,month --data t.csv --column a -o out.csv");
    on.fails("hierarchy show builtin:planets");
    on.fails("hierarchy check builtin:countries --data patients.csv --column sex");
    on.fails("hierarchy new date --units month --data patients.csv --column sex -o out.csv");
    on.fails("hierarchy new intervals --widths 0 --data patients.csv --column age -o out.csv");
    on.fails(
        "hierarchy new prefix --keep 2 --data patients.csv --column zip -o patients.csv --force",
    );
    on.with(
        "t.csv",
        "39,x\n40,y\n39,x\n",
        "hierarchy new prefix --keep 2 --data t.csv --column a -o out.csv",
    );
}

pub(super) fn published_values(on: &mut Recorder) {
    let run = "anonymize t.csv -o out.csv --bound none --qi a --rest drop -k 2";
    on.file("t.csv", "a,b\n1,x\n2,x\n[1-2],x\n[1-2],x\n3,y\n4,y\n");
    on.fails(&format!("{run} --kind a=numeric --missing [1-2]"));
    on.file("t.csv", "a,b\np,1\np,2\nq,3\nq,4\n");
    on.with("h.csv", "p;*;any\nq;*;any\n", &format!("{run} --hierarchy a=h.csv"));
    on.with("h.csv", "p;p;*\nq;p;*\np (all);G;*\n", &format!("{run} --hierarchy a=h.csv"));
    let days = "a,b\n2024-03-17,1\n2024-03-17T10:00:00,2\n2024-03-17T11:00:00,3\n2024-03-18,4\n";
    on.with("t.csv", days, &format!("{run} --hierarchy a=date:day,month --snap"));
    on.file("t.csv", "a,a_min\n1,1\n2,2\n3,1\n4,2\n");
    on.fails("anonymize t.csv -o out.csv --qi a --keep a_min -k 2 --publish bounds");
    let times =
        ["00.0000001", "00.0000003"].map(|s| format!("2024-01-01T00:00:{s}Z,1\n").repeat(2));
    on.with("t.csv", format!("a,b\n{}", times.concat()), &format!("{run} --publish bounds"));
    let large =
        "a,b\n9007199254740993,1\n9007199254740993,1\n9007199254740997,1\n9007199254740997,1\n";
    on.with("t.csv", large, &format!("{run} --publish bounds"));
    let ages: String = (20..32).map(|age| format!("{age},{}\n", age % 3)).collect();
    on.file("t.csv", format!("a,b\n{ages}"));
    let bands: String = (20..32).map(|age| format!("{age};{}0s;*\n", age / 10)).collect();
    on.with("h.csv", bands, &format!("{run} --hierarchy a=h.csv --snap --publish bounds"));
    // Columns that are published unchanged.
    let line = "anonymize t.csv -o out.csv --bound none -k 2 --qi a";
    let rows: String = (0..60).map(|i| format!("{},{i},{}\n", i * 7 % 5, i * i % 11)).collect();
    on.with("t.csv", format!("a,b,c\n{rows}"), &format!("{line} --rest keep"));
    on.with("t.csv", "a,b\n1,1\n1,2\n1,3\n", &format!("{line} --rest keep"));
    on.fails(&format!("{line} --keep b --rest drop --accept-unique"));
    let rows: String = (0..60).map(|i| format!("{0},{0}.5\n", i % 5)).collect();
    on.with("t.csv", format!("a,b\n{rows}"), &format!("{line} --sampling-weight b"));
    // The warnings of a run that is refused for its loss.
    let row = |i: u32| {
        let (age, is_child) = (i * i % 47, i.is_multiple_of(3));
        let (marital, home) = if is_child { (0, 9) } else { (i % 4, i * 7 % 5 % 2) };
        let text = format!("Dr. Ann N{} said it", i * 13 % 229);
        format!("{age},{marital},{home},N{},{text},{}.5\n", i * i % 31, 10 + i.min(200))
    };
    let rows: String = (0..700).map(row).collect();
    on.with(
        "t.csv",
        format!("a,marital,home,surname,finding,w\n{rows}"),
        "anonymize t.csv -o out.csv --bound none -k 30 --steps 1 --seed 1 --qi a,marital --keep home,surname \
         --sensitive finding --sampling-weight w --max-loss 0%",
    );
    for cell in ["", "x", "-1"] {
        let rows = format!("a,b\n1,2.5\n1,{cell}\n");
        on.with("t.csv", rows, &format!("{line} --sampling-weight b"));
    }
    on.fails(&format!("{line} --sampling-weight b,c"));
    on.with(
        "t.csv",
        "a,b,c\n1,1,1\n1,1,1\n",
        &format!("{line} --sampling-weight b --sampling-weight c"),
    );
}
