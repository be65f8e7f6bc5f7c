//! Messages about measures of risk.

use super::Recorder;

pub(super) fn risk(on: &mut Recorder) {
    let check = "check s.csv --qi age,sex";
    on.file("s.csv", "age,sex,w,id\n30,f,2,1\n35,f,2,2\n");
    on.fails(&format!("{check} --sampling-fraction 0"));
    on.fails(&format!("{check} --sampling-fraction 5"));
    on.fails(&format!("{check} --sampling-fraction some"));
    on.fails(&format!("{check} --sampling-fraction 5% --sampling-weight w"));
    on.fails(&format!("{check} --sampling-weight w,id"));
    on.fails(&format!("{check} --sampling-weight w --sampling-weight id"));
    on.fails(&format!("{check} --population nowhere.csv"));
    on.with("p.csv", "age,gender\n30,f\n", &format!("{check} --population p.csv"));
    on.fails("report s.csv s.csv --qi age,sex -k 2 --rest keep --population p.csv -o out.html");
    for cell in ["", "0", "-1", "x7"] {
        let content = format!("age,sex,w\n30,f,2\n35,f,{cell}\n");
        on.with("s.csv", content, &format!("{check} --sampling-weight w"));
    }
    on.with("s.csv", "age,sex,id\n30,f,1\n35,f,\n", &format!("{check} --person id"));
}
