//! Requests that make no sense, or that no release can satisfy.

use super::Recorder;

const ROLES: &str = "anonymize patients.csv -o out.csv --bound none --qi age,zip,sex --sensitive \
                     diagnosis --rest drop";

pub(super) fn flags(on: &mut Recorder) {
    for flags in [
        "-k five",
        "-k 2 --steps many",
        "--l diagnosis=1.2",
        "-k 2 --l note=2",
        "-k 2 --weight note=2",
        "-k 2 --order note=a,b",
        "-k 2 --kind note=numeric",
        "-k 2 --reason note=unknown",
        "-k 2 --kind age=number",
        "-k 2 --t diagnosis=0.2 --distance diagnosis=far",
        "-k 2 --weight age=heavy",
        "--l diagnosis=many",
        "-k 2 --alpha diagnosis=often",
        "-k 2 --alpha note=0.5",
        "-k 2 --alpha",
        "-k 2 --alpha diagnosis",
        "-k 2 --k-on ten:age",
        "-k 2 --recursive diagnosis=3",
        "-k 2 --keep age",
        "-k 2 --accept-dependent note",
        "-k 2 --accept-unique",
        "-k 2 --delimiter xx",
        "-k 2 --hierarchy age=intervals:x",
        "-k 2 --hierarchy zip=prefix:x",
        "-k 2 --hierarchy age=date:hour",
        "-k 2 --hierarchy age=builtin:planets",
        "-k 2 --hierarchy age=interval:5",
        "-k 2 --order sex=nowhere",
        "-k 2 --threads 0",
        "-k 2 --threads 100000",
        "-k 2 --max-memory much",
        "-k 2 --algorithm magic",
        "-k 2 --magic",
        "-k 2 --scheme ghs",
        "-k 2 --cost dm --algorithm mondrian",
        "-k 2 --scheme magic --algorithm optimal",
        "-k 2 --scheme note=ghs --algorithm optimal",
        "-k 2 --time soon",
        "-k 2 --rounds 0",
        "-k 2 --suppress 100%",
        "-k 2 --suppress 5",
        "-k 2 --suppress 500",
        "-k 2 --suppression-price 2",
        "-k 2 --max-loss 200%",
        "-k 2 --missing *",
        "-k 2 --proof p",
        "-k 2 --save-config -",
        "-k 2 --recoding r --algorithm mondrian",
        "-k 2 --recoding - --algorithm optimal",
        "-k 2 --non-homogeneous",
        "-k 2 --algorithm ring",
        "-k 2 --algorithm ring --non-homogeneous --publish set",
        "-k 2 --algorithm ring --non-homogeneous --input-order",
        "-k 2 --snap --algorithm optimal --scheme ops --hierarchy age=intervals:5",
    ] {
        on.fails(&format!("{ROLES} {flags}"));
    }
    on.fails("");
    on.fails("anonymize -k 2 --qi age -o out.csv");
    on.with("lookalike.toml", "k = 2\n", "anonymize -k 2 --qi age -o out.csv");
    on.fails("explain patients.csv --qi age --rest drop -k 2 --time 0s");
    on.fails("check patients.csv --qi Age -k 2");
    on.fails("check patients.csv --qi colour -k 2");
}

pub(super) fn configuration(on: &mut Recorder) {
    on.with("c.toml", b"# M\xfcller\nk = 2\n", "check t.csv -c c.toml");
    let run = "anonymize patients.csv -c c.toml -o out.csv --rest drop --bound none";
    for content in [
        "k = ",
        "patients",
        "kay = 5",
        "version = 9",
        "k = \"5\"\n[columns]\nage = { role = \"quasi\" }",
        "k = 5\n[output]\nsnap = \"yes\"\n[columns]\nage = { role = \"quasi\" }",
        "k = 5\n[columns]\nage = { role = \"quasi\"\n[limits]\ntime = \"1s\"",
        "k = 5\n[columns]\nage = { role = \"key\" }",
        "k = 5\nalgorithm = \"magic\"\n[columns]\nage = { role = \"quasi\" }",
        "k = 5\nalgorithm = \"optimal\"\ncost = \"money\"\n[columns]\nage = { role = \"quasi\" }",
        "k = 5\n[columns]\nage = { role = \"quasi\" }\nsex = { role = \"sensitive\", alpha = true }",
        "k = 5\nrules = [{ k = 2, columns = [] }]\n[columns]\nage = { role = \"quasi\" }",
        "k = 5\n[columns]\nage = { role = \"quasi\" }\nsex = { role = \"sensitive\", alpha = 0.5, \
         values = [] }",
        "k = 5\n[columns]\nage = { role = \"quasi\", hierarchy = \"nowhere.csv\" }",
        "k = 5\n[columns]\nage = { role = \"quasi\" }\nsex = { role = \"keep\", weight = 2 }",
        "k = 5\n[columns]\nage = { role = \"quasi\" }\nsex = { role = \"keep\", scheme = \"ghs\" }",
        "k = 5\n[columns]\nage = { role = \"quasi\", dependent = true }",
        "k = 5\n[columns]\nage = { role = \"quasi\" }\nname = { role = \"identifier\", kind = \"date\" }",
        "k = 5\n[columns]\nage = { role = \"quasi\", kind = \"numeric\", order = [\"1\"] }",
        "k = 5\n[columns]\nage = { role = \"quasi\", order = [\"1\"], hierarchy = \"h.csv\" }",
        "k = 5\n[columns]\nage = { role = \"quasi\", hierarchy = { prefix = [2], top = 80 } }",
        "k = 5\n[columns]\nage = { role = \"quasi\", hierarchy = { prefix = [2], date = [\"day\"] } }",
        "k = 5\n[columns]\nage = { role = \"quasi\", hierarchy = { prefix = [2], width = 3 } }",
        "k = 5\n[columns]\nage = { role = \"quasi\", hierarchy = 5 }",
        "k = 5\n[columns]\nsex = { role = \"quasi\", hierarchy = { rows = [[\"male\", \"*\"], []] } }",
        "k = 5\n[columns]\nsex = { role = \"quasi\", hierarchy = { rows = [[\"male\", \"*\"]] } }",
        "k = 5\n[columns]\nsex = { role = \"quasi\", hierarchy = { text = \"male;a;*\\nfemale;*\" } }",
        "k = 5\n[columns]\nsex = { role = \"quasi\", hierarchy = { text = \"\" } }",
    ] {
        on.with("c.toml", content, run);
    }
    on.fails("anonymize patients.csv -c nowhere.toml -o out.csv");
}

pub(super) fn rules(on: &mut Recorder) {
    for flags in [
        "",
        "-k 0",
        "--l diagnosis=0",
        "--alpha diagnosis=0",
        "--alpha diagnosis=110%",
        "--alpha age=0.5",
        "--entropy-l diagnosis=0.5",
        "--recursive diagnosis=0:2",
        "--t diagnosis=2",
        "--t diagnosis=0.2 --suppress 1%",
        "-k 2 --values diagnosis=flu",
        "-k 2 --distance diagnosis=equal",
        "-k 2 --weight diagnosis=2",
        "-k 2 --weight age=1e99",
        "-k 2 --k-on 2:diagnosis",
        "--k-on 2:age",
        "-k 2 --alpha diagnosis=0.5 --values diagnosis=Slaes",
        "-k 2 --t diagnosis=0.3 --distance diagnosis=ordered",
        "-k 2 --t diagnosis=0.3 --distance diagnosis=hierarchical",
    ] {
        on.fails(&format!("{ROLES} {flags}"));
    }
    on.fails("anonymize patients.csv -o out.csv --qi age,zip,sex -k 2 --sensitive diagnosis");
    on.fails("anonymize patients.csv -o out.csv --sensitive diagnosis --rest drop -k 2");
    let rows = (0..40).map(|i| format!("{},{}\n", 20 + i % 20, 2004 - i % 20));
    on.file("t.csv", format!("age,born\n{}", rows.collect::<String>()));
    on.fails("anonymize t.csv -o out.csv --qi age --keep born -k 15");
}

pub(super) fn feasibility(on: &mut Recorder) {
    for flags in [
        "-k 41",
        "--l diagnosis=9",
        "--distinct-l diagnosis=5",
        "--alpha diagnosis=0.01",
        "--entropy-l diagnosis=9",
        "--recursive diagnosis=0.01:2",
        "-k 2 --alpha diagnosis=0.1 --values diagnosis=flu,HIV",
        "-k 35 --max-loss 1%",
    ] {
        on.fails(&format!("{ROLES} {flags}"));
    }
}
