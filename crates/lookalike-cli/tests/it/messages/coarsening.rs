//! Rounded numbers, and hashes of identifiers.

use std::sync::Arc;

use arrow_array::{BinaryArray, BooleanArray, Int8Array, StringArray};

use super::Recorder;

pub(super) fn coarsening(on: &mut Recorder) {
    let run = "anonymize t.csv -o out.csv --bound none --qi a --keep b --identifier c -k 2";
    on.file("t.csv", "a,b,c\n1,10,x\n1,20,y\n2,30,z\n2,many,z\n");
    for flags in [
        "--round b=10",
        "--round b=0",
        "--round b=ten",
        "--top b=5 --bottom b=9",
        "--round b=2 --top b=5",
        "--round b=2 --kind b=categorical",
        "--hash c",
        "--hash-key key",
    ] {
        on.fails(&format!("{run} {flags}"));
    }
    on.with("key", "short", &format!("{run} --hash c --hash-key key"));
    on.with(
        "r.toml",
        "columns.b = { role = 'keep', round = 'ten' }\n",
        &format!("{run} -c r.toml"),
    );
    let counted = "anonymize t.csv -o out.csv --bound none --qi a --hash c --count n -k 2";
    on.with("t.csv", "a,c,n\n1,x,2\n1,y,2\n", counted);
    let plan = "plan t.csv -o out.csv --bound none --qi a --keep c --count n -k 2 --round c=5";
    on.with("t.csv", "a,c,n\n1,5,2\n1,6,2\n", plan);
    let a = || Arc::new(StringArray::from(vec!["1", "1"]));
    on.dir.write_typed(
        "b.parquet",
        vec![
            ("a", a()),
            ("b", Arc::new(BooleanArray::from(vec![true, false]))),
            ("i", Arc::new(Int8Array::from(vec![120, 3]))),
            ("c", Arc::new(BinaryArray::from(vec![&b"\xff"[..], b"\xfe"]))),
        ],
    );
    let typed = "anonymize b.parquet -o out.parquet --bound none --qi a -k 2";
    on.fails(&format!("{typed} --keep b,i --identifier c --round b=2"));
    on.fails(&format!("{typed} --keep b,i --identifier c --bottom i=200"));
    on.fails(&format!("{typed} --keep b,i --hash c"));
}

/// Columns of a purpose.
pub(super) fn purpose(on: &mut Recorder) {
    let run = "anonymize t.csv -o out.csv --bound none --qi a --keep b --identifier c -k 2";
    on.file("t.csv", "a,b,c\n1,10,x\n1,20,y\n2,30,z\n2,40,z\n");
    for flags in ["--purpose b,b", "--purpose a", "--purpose c", "--purpose salary"] {
        on.fails(&format!("{run} {flags}"));
    }
    let plan = "plan t.csv -o out.csv --bound none --qi a --keep c --count n -k 2 --purpose c";
    on.with("t.csv", "a,c,n\n1,5,2\n1,6,2\n", plan);
}
