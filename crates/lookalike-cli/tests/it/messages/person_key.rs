//! Messages about tables in which persons have several rows.

use super::Recorder;

const VISITS: &str = "id,age,sex,ill\na,30,f,flu\na,30,f,gout\nb,35,m,flu\nb,36,m,flu\n";

pub(super) fn person_key(on: &mut Recorder) {
    let line = "anonymize v.csv -o out.csv --bound none --qi age,sex --sensitive ill -k 2";
    on.with("v.csv", VISITS, &format!("{line} --identifier id --persons whole"));
    on.fails(&format!("{line} --identifier id --pseudonyms"));
    on.fails(&format!("{line} --person id --persons rows --pseudonyms"));
    on.fails(&format!("{line} --person id --algorithm ring --non-homogeneous"));
    on.fails(&format!("{line} --person id --persons rows --input-order"));
    on.fails(&format!("{line} --person id --persons whole --algorithm optimal"));
    on.fails("anonymize v.csv -o out.csv --qi age -k 2 --sampling-weight sex,ill --rest drop");
    on.fails(
        "anonymize v.csv -o out.csv --qi age -k 2 --sampling-weight sex --sampling-weight ill",
    );

    // Rules that persons cannot satisfy.
    let line =
        "anonymize v.csv -o out.csv --bound none --seed 1 --qi age,sex --sensitive ill --person id";
    for persons in ["whole", "rows"] {
        for rule in
            ["-k 3", "-k 2 --l ill=2", "-k 2 --distinct-l ill=3", "-k 2 --recursive ill=1:2"]
        {
            on.fails(&format!("{line} --persons {persons} {rule}"));
        }
        on.fails(&format!("{line} --persons {persons} -k 2 --entropy-l ill=3"));
    }
    on.with("v.csv", VISITS.replace("b,36", ",36"), &format!("{line} -k 2"));
    on.with("v.csv", VISITS.replace("b,36", "?,36"), &format!("{line} -k 2 --missing ?"));

    let named = VISITS.replace("id,age", "site,age").replace("ill", "person");
    let line = "anonymize v.csv -o out.csv --bound none --qi age -k 2 --pseudonyms";
    on.with("v.csv", named, &format!("{line} --person site,sex --keep person"));
    let counts = "id,age,n\na,30,2\nb,35,2\n";
    on.with("v.csv", counts, "plan v.csv -o out.csv --qi age -k 2 --count n --person id");
}
