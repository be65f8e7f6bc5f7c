//! Messages about tables with a count column.

use super::Recorder;

pub(super) fn counts(on: &mut Recorder) {
    let line = "anonymize c.csv -o out.csv --bound none --qi age,sex -k 2";
    for cells in ["x7", "0", "3.0", ""] {
        let content = format!("age,sex,n\n30,f,2\n35,f,{cells}\n");
        on.with("c.csv", content, &format!("{line} --count n"));
    }
    on.fails("verify c.csv --qi age,sex -k 2 --count n");
    on.with("c.csv", "age,sex,n\n30,f,2\n35,f,4294967295\n", &format!("{line} --count n"));
    on.fails("check c.csv --qi age,sex -k 2 --count n");
    on.with("c.csv", "age,sex,n\n30,f,2\n35,f,2\n", &format!("{line} --count m --rest drop"));
    on.fails(&format!("{line} --count age --rest drop"));
    on.fails(&format!("{line} --count n --input-order"));
    on.fails(&format!("{line} --count n --algorithm ring --non-homogeneous"));
    on.fails("verify c.csv --source c.csv --qi age,sex -k 2 --count n --non-homogeneous");
    on.fails("query c.csv c.csv --qi age,sex -k 2 --count 200");
    on.fails("query c.csv c.csv --qi age,sex -k 2 --count m --rest drop");

    let plan = "plan c.csv -o out.csv --bound none --qi age,sex -k 2";
    on.with("b.toml", "output.codebook = true\n", &format!("{plan} --count n -c b.toml"));
    on.fails(plan);
    on.fails("verify c.csv --plan-of c.csv --qi age,sex -k 2");
    on.with("c.csv", "age,sex,n\n30,f,2\n30,f,2\n", &format!("{plan} --count n"));
    let taken = "age,sex,n,suppressed\n30,f,2,a\n31,f,2,a\n";
    on.with("c.csv", taken, &format!("{plan} --count n --rest keep"));
    let verify = "verify plan.csv --plan-of c.csv --qi age,sex -k 2 --count n";
    let head = "age,sex,published_age,published_sex,first_row,last_row,suppressed";
    on.file("plan.csv", format!("{head}\n30,f,30,f,1,2,false\n"));
    on.fails(&format!("{verify} --rest keep"));
    on.file("c.csv", "age,sex,n\n30,f,2\n");
    on.with("plan.csv", format!("{head}\n30,f,30,f,one,2,false\n"), verify);
    on.with("plan.csv", format!("{head}\n"), verify);
    let without = head.replace("sex,published_age", "published_age");
    on.with("plan.csv", format!("{without}\n30,30,f,1,2,false\n"), verify);
    on.with("plan.csv", format!("{head}\n30,f,31,f,1,2,false\n"), verify);
}
