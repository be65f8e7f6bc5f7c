//! Messages about releases whose rules count persons, and about their proofs.

use super::Recorder;

pub(super) fn audit_persons(on: &mut Recorder) {
    on.file("v.csv", "id,age\n1,30\n1,31\n2,32\n");
    on.file("r.csv", "age\n[30-32]\n[30-32]\n[30-32]\n");
    let verify = "verify r.csv --qi age -k 2 --person id";
    on.fails(verify);
    on.fails(&format!("{verify} --source v.csv"));
    on.fails("check r.csv --qi age -k 2 --person id");
    on.fails("report v.csv r.csv --qi age -k 2 --person id -o r.html");
    on.fails(&format!("{verify} --pseudonyms"));
    on.fails(&format!("{verify} --pseudonyms --persons rows"));
    on.fails("verify r.csv --qi age -k 2 --persons whole");
    on.fails(&format!("{verify} --source v.csv --non-homogeneous"));
    on.fails("verify r.csv --plan-of v.csv --qi age -k 2 --person id");
    let head = "released_row,source_row,rows";
    let with = format!("{verify} --source v.csv --proof p.csv");
    on.with("p.csv", format!("{head}\n1,1,1\n2,x,1\n3,3,1\n"), &with);
    on.with("p.csv", format!("{head}\n1,1,1\n2,2,1\n3,9,1\n"), &with);
    on.with("p.csv", "released,source\n1,1\n", &with);
    on.file("p.csv", format!("{head}\n1,1,1\n2,2,1\n3,3,1\n"));
    on.fails("verify r.csv --qi age -k 2 --source v.csv --proof p.csv");
    on.with(
        "ring.csv",
        "ring,window,source_row,released_row\n1,2,1,1\n",
        "report v.csv r.csv --qi age -k 2 --person id -o r.html --proof ring.csv",
    );
    on.with("v.csv", "id,age\n1,30\n,31\n2,32\n", &with);
    on.fails("check v.csv --qi age -k 2 --person id");
    // Rules that do not hold are findings: exit code 1, and no error.
    on.file("v.csv", "id,age\n1,30\n1,31\n1,32\n");
    on.fails(&with);
}
