//! Releases, proofs and recoding files that do not fit.

use super::Recorder;

const ROLES: &str = "--qi age,zip,sex --sensitive diagnosis --rest drop";

pub(super) fn ring(on: &mut Recorder) {
    let flags = format!("-k 2 {ROLES}");
    let ring = "--algorithm ring --non-homogeneous --bound none";
    on.dir
        .succeed(&format!("anonymize patients.csv -o ring.csv --proof ring.proof {ring} {flags}"));
    on.fails(&format!("verify ring.csv --non-homogeneous {flags}"));
    on.fails(&format!("verify ring.csv --source patients.csv {flags}"));
    on.fails(&format!("report patients.csv ring.csv -o page.html -c ring.toml {flags}"));
    on.with(
        "ring.toml",
        "non_homogeneous = true\n",
        &format!("report patients.csv ring.csv -o page.html -c ring.toml {flags}"),
    );
    let proof = on.dir.text("ring.proof");
    let verify = format!("verify ring.csv --source patients.csv --proof p {flags}");
    let head = proof.lines().next().unwrap_or_default().to_string();
    on.with("p", "patients\n", &verify);
    on.with("p", format!("{head}\n1 2 three\n"), &verify);
    on.with("p", format!("{head}\n"), &verify);
    on.dir.write("p", proof.lines().take(20).collect::<Vec<_>>().join("\n") + "\n");
    on.fails(&verify);
    on.fails(&verify.replace(" p ", " nowhere "));
    let rules = format!("{flags} --l diagnosis=2");
    on.fails(&format!("verify ring.csv --source patients.csv --non-homogeneous {rules}"));
    let fewer = on.dir.text("ring.csv").lines().take(30).collect::<Vec<_>>().join("\n") + "\n";
    on.dir.write("fewer.csv", fewer);
    on.fails(&format!("verify fewer.csv --source patients.csv --non-homogeneous {flags}"));
    on.fails(&format!("verify ring.csv -c ring.toml {flags}"));
}

const RECODING: &str = r#"version = 1
[columns.age]
kind = "numeric"
levels = 1
blocks = [
  { show = "[20-44]", from = "20", to = "44", loss = 0.5, risen = 1 },
  { show = "[45-69]", from = "45", to = "69", loss = 0.5, risen = 1 },
]
[columns.sex]
kind = "categorical"
levels = 1
blocks = [
  { show = "female", values = ["female"], loss = 0, risen = 0 },
  { show = "male", values = ["male"], loss = 0, risen = 0 },
]
"#;

pub(super) fn recoding_file(on: &mut Recorder) {
    let flags = "--qi age,sex --rest drop -k 2";
    let apply = format!("apply r.toml patients.csv -o out.csv {flags}");
    on.file("r.toml", RECODING);
    on.fails("apply nowhere.toml patients.csv -o out.csv --qi age,sex --rest drop -k 2");
    on.fails("apply r.toml patients.csv -o out.csv --qi age --rest drop -k 2");
    on.fails(&format!("{apply} --kind age=categorical"));
    on.with("c.toml", "non_homogeneous = true\n", &format!("{apply} -c c.toml"));
    on.with("c.toml", "output.publish = \"bounds\"\n", &format!("{apply} -c c.toml"));
    on.with("c.toml", "k = 40\nlimits.suppress = \"1%\"\n", &format!("{apply} -c c.toml -k 21"));
    for row in ["31,other", "19,male", ",male"] {
        let line = format!("apply r.toml t.csv -o out.csv {flags}");
        on.with("t.csv", format!("age,sex\n30,female\n30,female\n{row}\n{row}\n"), &line);
    }
    for content in ["patients", "k = 2", "version = 9", "version = 1\n[[block]]\n"] {
        on.with("r.toml", content, &apply);
    }
    for (from, to) in [
        ("{ show = \"female\", values = [\"female\"], loss = 0, risen = 0 },\n", ""),
        ("values = [\"female\"]", "missing = true"),
        ("from = \"20\", ", ""),
        ("loss = 0.5", "loss = 1.5"),
        ("risen = 1", "risen = 2"),
        ("\"[45-69]\"", "\"[20-44]\""),
        ("values = [\"male\"]", "values = [\"female\"]"),
        ("from = \"20\", to = \"44\"", "missing = true"),
        ("from = \"20\"", "from = \"50\""),
        ("from = \"20\"", "from = \"young\""),
        ("from = \"45\"", "from = \"40\""),
        ("\"[45-69]\"", "\"[50-69]\""),
        ("show = \"female\"", "show = \"women\""),
    ] {
        assert!(RECODING.contains(from), "{from}");
        on.with("r.toml", RECODING.replacen(from, to, 1), &apply);
    }
    let none = RECODING.split("blocks = [").next().unwrap_or_default();
    on.with(
        "r.toml",
        format!("{none}blocks = []\n"),
        "apply r.toml patients.csv -o out.csv --qi age --rest drop -k 2",
    );
    let twice = RECODING.replace("from = \"20\", to = \"44\"", "missing = true");
    let twice = twice.replace("from = \"45\", to = \"69\"", "missing = true");
    on.with("r.toml", twice, &apply);
}

pub(super) fn verify(on: &mut Recorder) {
    let flags = format!("-k 2 {ROLES}");
    on.dir.succeed(&format!("anonymize patients.csv -o r.csv --bound none {flags}"));
    on.fails(&format!("verify r.csv {flags} --qi colour"));
    on.with("empty.csv", "age,zip,sex,diagnosis\n", &format!("verify empty.csv {flags}"));
    on.fails("verify r.csv --qi age,zip -k 2");
    on.fails("verify r.csv --sensitive diagnosis --rest drop -k 2");
    on.fails(&format!("verify nowhere.csv {flags}"));
    on.with(
        "other.csv",
        "age,zip,diagnosis\n30,53711,flu\n",
        &format!("verify r.csv --source other.csv {flags}"),
    );
    on.fails(&format!("verify {flags}"));
    on.fails(&format!("verify r.csv --non-homogeneous {flags}"));
    on.fails(&format!("verify r.csv --proof p {flags}"));
    let far = format!("{flags} --t diagnosis=0.5");
    on.fails(&format!("verify r.csv {far} --distance diagnosis=ordered"));
    on.fails(&format!("verify r.csv {far} --distance diagnosis=hierarchical"));
    let tree = "--distance diagnosis=hierarchical --hierarchy diagnosis=h.csv";
    for content in [
        "flu;A;A;*\n",
        "flu;A;*\nflu;A;*\n",
        "flu;A;*\nasthma;A;B;*\n",
        "flu;A;X;*\nasthma;A;Y;*\ncancer;B;Y;*\nHIV;B;Y;*\n",
        "flu;A;*\nasthma;A;*\n",
        "flu;\"A;*\n",
        "",
    ] {
        on.with("h.csv", content, &format!("verify r.csv {far} {tree}"));
    }
    on.dir
        .succeed(&format!("anonymize patients.csv -o b.csv --publish bounds --bound none {flags}"));
    on.fails("check b.csv --qi age,zip,sex -k 2");
}
