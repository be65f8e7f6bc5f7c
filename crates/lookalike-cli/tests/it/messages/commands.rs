//! Messages of `query`, `compare`, `report` and `reproduce`.

use super::Recorder;

const ROLES: &str = "--qi age,zip,sex --sensitive diagnosis --rest drop -k 2";

pub(super) fn query(on: &mut Recorder) {
    on.dir.succeed(&format!("anonymize patients.csv -o r.csv --bound none {ROLES}"));
    let line = format!("query patients.csv r.csv {ROLES}");
    let file = format!("{line} --queries q.toml");
    for content in [
        "query = 1",
        "[query]\n",
        "",
        "other = 1\n[[query]]\n",
        "query = [1]",
        "[[query]]\nsum = 1\n",
        "[[query]]\nwhere = 1\n",
        "[[query]]\nfrom = 1\n",
        "[[query]]\nwhere = { age = [] }\n",
        "[[query]]\nwhere = { age = [1] }\n",
        "[[query]]\nwhere = { age = [1, \"2\"] }\n",
        "[[query]]\nwhere = { age = true }\n",
        "[[query]]\nwhere = { age = { from = \"x\" } }\n",
        "[[query]]\nwhere = { age = { middle = 1 } }\n",
        "[[query]]\nwhere = { age = [30, 20] }\n",
        "[[query]]\nwhere = { age = { node = \"young\" } }\n",
        "[[query]]\nwhere = { sex = [1, 2] }\n",
        "[[query]]\nwhere = { sex = \"\" }\n",
        "[[query]]\nwhere = { sex = \"other\" }\n",
        "[[query]]\nwhere = { sex = { node = \"any\" } }\n",
        "[[query]]\nwhere = { colour = \"red\" }\n",
        "[[query]]\nwhere = { note = \"red\" }\n",
        "[[query]]\nsum = \"sex\"\n",
        "[[query]]\nsum = \"colour\"\n",
    ] {
        on.with("q.toml", content, &file);
    }
    on.file("h.csv", "female;person;*\nmale;person;*\n");
    let tree = format!("{file} --hierarchy sex=h.csv");
    on.with("q.toml", "[[query]]\nwhere = { sex = \"person\" }\n", &tree);
    on.with("q.toml", "[[query]]\nwhere = { sex = { node = \"people\" } }\n", &tree);
    let low = format!("{file} --order sex=female,male");
    on.with("q.toml", "[[query]]\nwhere = { sex = { from = \"child\" } }\n", &low);
    on.fails(&format!("{line} --queries nowhere.toml"));
    on.fails(&format!("{line} --on colour"));
    on.fails(&format!("{line} --on age --sum age"));
    on.fails(&format!("{line} --sum sex"));
    on.fails(&format!("{line} --sum colour"));
    on.fails(&format!("{line} --random 0"));
    on.file("dates.csv", "d,b\n2024-01-01,x\n2024-01-02,x\n");
    on.with(
        "q.toml",
        "[[query]]\nwhere = { d = { from = \"x\" } }\n",
        "query dates.csv dates.csv --queries q.toml --qi d --keep b -k 2",
    );
    on.with("empty.csv", "age,zip,sex,diagnosis\n", &line.replace("patients.csv", "empty.csv"));
    on.with(
        "part.csv",
        "age,sex,diagnosis\n30,female,flu\n",
        &line.replace("patients.csv", "part.csv"),
    );
    let wide: Vec<String> = (0..30).map(|i| format!("c{i}")).collect();
    let row = |i: usize| {
        (0..30).map(|j| ((i * 7919 + j * 104_729) % 997).to_string()).collect::<Vec<_>>().join(",")
    };
    let rows: Vec<String> = (0..60).map(row).collect();
    on.dir.write("wide.csv", format!("{}\n{}\n", wide.join(","), rows.join("\n")));
    on.fails("query wide.csv wide.csv --rest drop -k 1 --random 100 --qi c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16,c17,c18,c19,c20,c21,c22,c23,c24,c25,c26,c27,c28,c29");
}

pub(super) fn compare_and_report(on: &mut Recorder) {
    let line = format!("compare patients.csv --bound none --queries 0 {ROLES}");
    for flags in [
        "--algorithms ring",
        "--non-homogeneous --algorithms mondrian",
        "--scheme ghs --algorithms mondrian",
        "--csv - --json",
        "--csv patients.csv --force",
        "-c nowhere.toml",
        "--k 41,50 --algorithms mondrian",
    ] {
        on.fails(&format!("{line} {flags}"));
    }
    on.file(
        "a.toml",
        "k = 2\ninput.path = \"patients.csv\"\n[columns]\nage = { role = \"quasi\" }\n",
    );
    on.fails("compare patients.csv -c a.toml -c a.toml");
    on.file("b.toml", "k = 2\ninput.path = \"other.csv\"\n[columns]\nage = { role = \"quasi\" }\n");
    on.fails("compare -c a.toml -c b.toml");
    on.dir.succeed(&format!("anonymize patients.csv -o r.csv --bound none {ROLES}"));
    for flags in [
        "-o r.csv --force",
        "-o patients.csv --force",
        "-o page.html --json page.html",
        "-o nowhere/page.html",
        "-o page.html --explain --edition public",
    ] {
        on.fails(&format!("report patients.csv r.csv --bound none {ROLES} {flags}"));
    }
    on.fails(&format!("report r.csv patients.csv -o page.html {ROLES}"));
    on.fails(&format!("report patients.csv r.csv -o page.html {ROLES} --date yesterday"));
    let line = "report patients.csv r.csv -o dated.html --bound none --queries 0";
    on.script_fails(&format!("SOURCE_DATE_EPOCH=now $0 {line} {ROLES}"));
    on.fails(&format!("report r.csv {ROLES} -o page.html"));
    on.fails(&format!("report {ROLES} -o page.html"));
    for paths in [
        "output.path = \"-\"\n",
        "output.path = \"unmade.csv\"\n",
        "output.path = \"r.csv\"\n",
        "output.path = \"r.csv\"\ninput.path = \"gone.csv\"\n",
    ] {
        on.with("p.toml", paths, &format!("report -c p.toml {ROLES} -o page.html"));
    }
}

pub(super) fn reproduce(on: &mut Recorder) {
    for folder in ["empty", "bad", "csv", "acs", "done/xu2006"] {
        std::fs::create_dir_all(on.dir.path(folder)).unwrap();
    }
    on.fails("reproduce all --data nowhere -o out");
    on.fails("reproduce all --data empty -o out");
    on.fails("reproduce knuth1968 -o out");
    on.with("done/xu2006/a.csv", "a\n", "reproduce xu2006 -o done");
    let row = "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, \
               White, Male, 2174, 0, 40, United-States, <=50K\n";
    let texts = [
        b"39, x\n".to_vec(),
        b"\n".to_vec(),
        b"39, \xff\n".to_vec(),
        row.replace("State-gov", "Navy").into(),
    ];
    for text in texts {
        on.file("bad/adult.data", &text);
        on.with("bad/adult.test", &text, "reproduce wong2006 --quick --data bad -o out");
    }
    on.with(
        "bad/adult.data",
        row.replace("39", "old").repeat(3),
        "reproduce li2008 --quick --data bad -o out",
    );
    on.with(
        "csv/adult_45222.csv",
        "age,sex\n1,2\n",
        "reproduce wong2006 --quick --data csv -o out",
    );
    on.with(
        "acs/acs2018_sal_occ.csv",
        "age,sex\n1,2\n",
        "reproduce he2012 --quick --data acs -o out",
    );
    on.with("file", "", "reproduce wong2006 -o file");
}
