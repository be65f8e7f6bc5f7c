//! Files that cannot be read or written.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, StringArray, UnionArray};
use arrow_schema::{DataType, Field, UnionFields};

use super::Recorder;

const RUN: &str = "anonymize t.csv -o out.csv --qi a,b -k 2";

pub(super) fn csv(on: &mut Recorder) {
    for content in [
        &b"a,b\n1,2\nx\n3,4\n"[..],
        b"a,b\n1,2\n3,4\nx,5,6\n",
        b"a,b\n1\0,2\n",
        b"a,b,a\n1,2,3\n",
        b"1,2,1\n3,4,5\n6,7,8\n",
        b"",
        b"a,b\n",
        b"a,b\n1,\"x\n2,3\n",
        b"a,,c\n1,2,3\n",
        b"x,y\n1,2\n",
        b"39,x\n40,other\n39,x\n",
    ] {
        on.with("t.csv", content, RUN);
    }
    on.with("t.csv", b"a,b\n1,2\nx\xff,3\n", &format!("{RUN} --encoding utf-8"));
    on.with("t.csv", b"a,b\xff\n1,2\n", &format!("{RUN} --encoding utf-8"));
    on.with("t.csv", "a,b\n1,2\n", &format!("{RUN} --encoding latin-15"));
    on.with("t.csv", "1,2\n3,4\n", &format!("{RUN} --names a,b,c"));
    on.with("t.csv", "39,x\n40,other\n39,x\n", "anonymize t.csv -o out.csv --qi 39,x -k 2");
    on.with("t.csv", "x,y\nx,1\nx,y\n", "check t.csv --qi x,y -k 2");
    on.with("t.csv", "a,b\n1,2\n", "check t.csv --qi= -k 2");
    on.with("t.csv", "a,b\n1,2\n", "report t.csv t.csv --qi a,b -k 2 -o r.pdf");
    on.with(
        "p.toml",
        "k = 2\noutput = { path = 'a.csv', proof = 'p.csv' }\n",
        "anonymize t.csv -c p.toml --qi a,b -o b.csv",
    );
    on.with("t.csv", "a,b\n1,NA\n2,3\n3,4\n", &format!("{RUN} --missing 99"));
    on.with("t.csv", "name,2020\nx,5\ny,7\n", "init t.csv -o out.toml");
    on.with(
        "r.toml",
        "input = { names = ['a'], header = true }\n",
        "check t.csv -c r.toml --qi a -k 2",
    );
    on.with("t.csv", format!("a,{}", "x".repeat(1_200_000)), RUN);
    on.with("t.csv", "a,b\n1,2\n", &format!("{RUN} --delimiter é"));
    on.with("t.csv", "a,b\n", "init t.csv -o out.toml");
    on.with("t.csv", "a,b\n", "check t.csv --qi a -k 2");
    local_forms(on);
    on.dir.write("book.xlsx", include_bytes!("../book.xlsx"));
    on.fails("check book.xlsx --sheet Blatt1 --qi Ort -k 2");
    on.fails("check nowhere.csv --qi a -k 2");
    on.fails("check patiens.csv --qi age -k 2");
    on.fails("check patients.csv --qi age -k 2 --delimiter ;");
    on.fails("check tmp --qi a -k 2");
    on.fails("check part-*.parquet --qi a -k 2");
    let column = |texts: [&str; 2]| -> ArrayRef { Arc::new(StringArray::from(texts.to_vec())) };
    for folder in ["parts", "parts/other", "state", "state/x=1"] {
        std::fs::create_dir(on.dir.path(folder)).unwrap();
    }
    on.dir.write_typed("parts/1.parquet", vec![("a", column(["1", "2"]))]);
    on.dir.write_typed("parts/2.parquet", vec![("b", column(["1", "2"]))]);
    on.fails("check parts --qi a -k 2");
    on.dir.write("parts/2.parquet", "a\n1\n");
    on.fails("check parts --qi a -k 2");
    on.fails("anonymize parts -o parts/safe.parquet --qi a -k 2");
    on.fails("check state --qi a -k 2");
}

/// Numbers and dates that can be read in two ways, and texts for "missing" among them.
fn local_forms(on: &mut Recorder) {
    on.with("t.csv", "a;b\n1,234;x\n2,345;x\n", RUN);
    on.with("t.csv", "a,b\n05/06/2014,x\n07/08/2014,x\n", RUN);
    on.with("t.csv", "a,b\n05.06.14,x\n27.08.31,x\n", RUN);
    on.with("t.csv", "a,b\n1,NA\n2,3\n?,4\n", RUN);
    on.with("t.csv", "a,b\n1,2\n3,4\n", &format!("{RUN} --date-format dd.mm"));
    on.with("t.csv", "a,b\n1,2\n3,4\n", &format!("{RUN} --decimal ;"));
    on.with("t.csv", "a,b\n1,2\n3,4\n", &format!("{RUN} --thousands x"));
    let form =
        "k = 2\n[columns]\na = { role = 'quasi', format = '12,5' }\nb = { role = 'quasi' }\n";
    on.with("f.toml", form, "anonymize t.csv -o out.csv -c f.toml");
}

/// A column with numbers and texts in one.
fn union() -> ArrayRef {
    let fields = UnionFields::try_new([0], [Field::new("n", DataType::Int32, true)]).unwrap();
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 1, 2, 2]));
    Arc::new(UnionArray::try_new(fields, vec![0; 4].into(), None, vec![numbers]).unwrap())
}

pub(super) fn typed_files(on: &mut Recorder) {
    let text = |texts: [&str; 4]| -> ArrayRef { Arc::new(StringArray::from(texts.to_vec())) };
    let a = || text(["1", "1", "2", "2"]);
    on.dir.write_typed("t.parquet", vec![("a", a())]);
    on.dir.write_typed("t.arrow", vec![("a", a())]);
    for name in ["t.parquet", "t.arrow"] {
        let whole = on.dir.read(name);
        on.dir.write(name, &whole[..whole.len() / 2]);
        on.fails(&format!("check {name} --qi a -k 2"));
        on.dir.write(name, whole);
    }
    on.script_fails("gzip < t.parquet > inside.csv.gz && $0 check inside.csv.gz --qi a -k 2");
    on.script_fails(
        "gzip < patients.csv | head -c 200 > cut.csv.gz && $0 check cut.csv.gz --qi age -k 2",
    );
    on.script_fails(
        "for i in $(seq 70000); do echo $i,$i; done | gzip | head -c 100000 > rows.csv.gz && \
         $0 check rows.csv.gz --qi 1 -k 2",
    );
    on.dir.write_typed("u.arrow", vec![("a", a()), ("u", union())]);
    on.fails("anonymize u.arrow -o out.csv --qi a --keep u -k 2");
    on.fails("anonymize u.arrow -o out.parquet --qi a --keep u -k 2");
    on.fails("anonymize u.arrow -o out.csv --qi a,u -k 2");
    on.dir.write_typed("z.arrow", vec![("a", a()), ("s", text(["x", "y\0", "z", "x"]))]);
    on.fails("anonymize z.arrow -o out.csv --qi a --keep s -k 2");
    on.dir.write_typed("z.arrow", vec![("a", a()), ("s\0", text(["x", "y", "z", "x"]))]);
    on.fails("anonymize z.arrow -o out.csv --qi a --rest keep -k 2");
}

pub(super) fn outputs(on: &mut Recorder) {
    let run = |out: &str| {
        format!("anonymize patients.csv -o {out} --qi age,zip --rest drop -k 2 --bound none")
    };
    for out in [
        "out.xlsx",
        "tmp",
        "tmp.csv",
        "nowhere/out.csv",
        "patients.csv/out.csv",
        "patients.csv",
        "old.csv",
        "fifo.csv",
    ] {
        if out == "old.csv" {
            on.file("old.csv", "a\n");
        }
        if out == "tmp.csv" {
            std::fs::create_dir(on.dir.path("tmp.csv")).unwrap();
        }
        if out == "fifo.csv" {
            assert!(on.dir.shell("mkfifo fifo.csv").status().unwrap().success());
        }
        on.fails(&run(out));
    }
    on.fails(&format!("{} --codebook", run("-")));
    on.file("new.codebook.html", "mine");
    on.fails(&format!("{} --codebook", run("new.csv")));
    on.file("c.toml", "k = 2\n[columns]\nage = { role = \"quasi\" }\n");
    on.fails("anonymize patients.csv -c c.toml -o c.toml --rest drop --force");
    on.fails("anonymize patients.csv -o - --json --qi age --rest drop -k 2");
    on.fails("init patients.csv -o patients.csv --force");
    on.fails("synth hospital -o out.xlsx");
    on.fails("synth hospital --rows 18446744073709551615 -o nowhere/out.csv");
    on.fails(
        "anonymize patients.csv -o r.toml.csv --recoding r.toml.csv --algorithm optimal --qi sex \
         --rest drop -k 2",
    );
    on.script_fails(
        "$0 anonymize patients.csv -o - --qi age,zip --rest drop -k 2 --bound none > /dev/full",
    );
    on.script_fails(
        "set -o pipefail; trap '' PIPE; $0 synth hospital --rows 3000 -o big.csv && $0 anonymize \
         big.csv -o - --qi age --rest keep --accept-unique --accept-dependent zip -k 2 --algorithm mondrian --bound \
         none | head -c 1 > first",
    );
    on.fails("synth census --rows 3000000 --max-memory 1MB -o out.parquet");
}
