//! Mistakes that are easily made, and what the program says to each. A good message says what is
//! wrong, where, and the way out; where a file of another program can simply be read, no message is
//! needed. The table has one entry for each mistake: a rating of the answer, the exit code, the
//! mistake, the command line, and fragments of the answer. All run in one folder.

use std::sync::Arc;

use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, ListArray};

use self::Rating::{A, B};
use crate::workdir::{Run, Workdir, ended};

/// How good an answer is. A misleading one, or silence where something is wrong, has no rating: it
/// must not be.
#[derive(PartialEq)]
enum Rating {
    /// It says what, where and the way out, or nothing is wrong any more.
    A,
    /// Something is missing, often the shortest way out.
    B,
}

struct Mistake {
    rating: Rating,
    code: i32,
    what: &'static str,
    /// The command line. `@TABLE` is short for a quick `anonymize TABLE` with an output of its own;
    /// a line that begins with `tty` runs on a terminal.
    line: &'static str,
    /// What the answer must contain.
    says: &'static [&'static str],
}

const fn mistake(
    rating: Rating,
    code: i32,
    what: &'static str,
    line: &'static str,
    says: &'static [&'static str],
) -> Mistake {
    Mistake { rating, code, what, line, says }
}

/// Two lines for each mistake.
#[rustfmt::skip]
const MISTAKES: [Mistake; 100] = [
    mistake(A, 5, "input file misspelt", "@patiens.csv --qi age,sex --rest drop -k 5",
        &["patiens.csv: there is no such file", "did you mean patients.csv?"]),
    mistake(A, 2, "column misspelt", "@patients.csv --qi agee --rest drop -k 5",
        &["there is no column `agee`", "did you mean `age`?"]),
    mistake(A, 2, "column in another case", "@patients.csv --qi Age --rest drop -k 5",
        &["there is no column `Age`", "did you mean `age`?"]),
    mistake(A, 2, "columns without a role", "@patients.csv --qi age,sex -k 5",
        &["no role for `name`, `zip`, `marital`", "give each a role (--qi, --sensitive, --identifier, --keep", "--rest drop or --rest keep"]),
    mistake(A, 2, "k = 0", "@patients.csv --qi age,sex --rest drop -k 0",
        &["k must be at least 1", "use at least 2, better 5"]),
    mistake(A, 0, "k = 1", "@patients.csv --qi age,sex --rest drop -k 1",
        &["warning: k = 1 protects nobody", "use at least 2, better 5"]),
    mistake(A, 2, "k in words", "@patients.csv --qi age,sex --rest drop -k five",
        &["'five' for '-k <K>'", "write a whole number from 1 on, such as 5"]),
    mistake(A, 1, "k above the number of rows", "@patients.csv --qi age,sex --rest drop -k 3000",
        &["k = 3000 cannot be met: the table has 2000 rows", "the largest feasible k is 2000"]),
    mistake(A, 2, "no rule", "@patients.csv --qi age,sex --rest drop",
        &["no rule: say how many rows must look alike", "(-k 5)"]),
    mistake(A, 2, "no quasi-identifier", "@patients.csv --rest drop -k 5",
        &["no quasi-identifier (the table has `name`, `age`", "could be joined with outside data, --qi a,b,c"]),
    mistake(A, 2, "no output, on a terminal", "tty anonymize patients.csv --qi age,sex --rest drop -k 5",
        &["no output: name a file for the release, -o safe.csv", "-o - for the terminal"]),
    mistake(A, 2, "output is the input", "@patients.csv -o patients.csv --force --qi age,sex --rest drop -k 5",
        &["patients.csv is the input itself: choose another output"]),
    mistake(A, 2, "release as a workbook", "@patients.csv -o o.xlsx --qi age,sex --rest drop -k 5",
        &["o.xlsx: the name does not tell the format", "it must end in .csv, .tsv", ".parquet"]),
    mistake(A, 5, "output in a folder that is not there", "@patients.csv -o nodir/o.csv --qi age,sex --rest drop -k 5",
        &["nodir/o.csv: there is no folder nodir: make it first"]),
    mistake(A, 2, "output exists", "@patients.csv -o old.csv --qi age,sex --rest drop -k 5",
        &["old.csv exists: choose another name or add --force"]),
    mistake(A, 0, "a column twice in one list", "@patients.csv --qi age,age,sex --rest drop -k 5",
        &["verified  5-anonymous for these columns: age, sex\n"]),
    mistake(A, 2, "a column with two roles", "@patients.csv --sensitive age --qi age,sex --rest drop -k 5",
        &["column `age` is in both --qi and --sensitive", "a column has one role"]),
    mistake(A, 2, "5 for 5 %", "@patients.csv --suppress 5 --qi age,sex --rest drop -k 5",
        &["suppress must be below 100%", "5 percent is written 5% or 0.05"]),
    mistake(A, 2, "1 for 1 % in the configuration", "@patients.csv -c percent.toml --rest drop",
        &["suppress must be below 100%", "1 percent is written 1% or 0.01"]),
    mistake(A, 2, "time in an unknown unit", "@patients.csv --time 5sec --qi age,sex --rest drop -k 5",
        &["time is a number and a unit: 500ms, 60s, 5m, 1h"]),
    mistake(A, 2, "a flag twice", "@patients.csv --time 5s --time 6s --qi age,sex --rest drop -k 5",
        &["'--time <TIME>' cannot be used multiple times"]),
    mistake(A, 2, "algorithm of another program", "@patients.csv --algorithm datafly --qi age,sex --rest drop -k 5",
        &["invalid value 'datafly' for '--algorithm <NAME>'", "possible values: auto, mondrian"]),
    mistake(A, 2, "rule on a column without a role", "@patients.csv --qi age,sex -k 5 --l diagnosis=2",
        &["--l names column `diagnosis`, which has no role: add it to --sensitive"]),
    mistake(A, 1, "l that the values do not allow", "@patients.csv --sensitive diagnosis --l diagnosis=50 --qi age,sex --rest drop -k 5",
        &["column `diagnosis` cannot be met: one value fills", "l = 50 cannot be met and the greatest feasible l is 6", "--values diagnosis=A,B"]),
    mistake(A, 1, "l = 2 where one value is nearly all", "@income.csv --qi age --sensitive income --l income=2 -k 5",
        &["one value fills 187 of 200 rows", "--alpha income=0.5 --values income=A,B", "--suppress 87.00%"]),
    mistake(A, 2, "l that is no whole number", "@income.csv --qi age --sensitive income --l income=1.2 -k 5",
        &["--l income=...: this is not a whole number", "--alpha income=0.83", "--entropy-l income=1.2"]),
    mistake(A, 2, "t above 1", "@patients.csv --sensitive diagnosis --t diagnosis=1.5 --qi age,sex --rest drop -k 5",
        &["t of column `diagnosis` must be from 0 to 1"]),
    mistake(A, 0, "t = 0", "@patients.csv --sensitive diagnosis --t diagnosis=0 --qi age,sex --rest drop -k 5",
        &["almost no detail: 100.0 %", "t = 0 on column `diagnosis` demands", "such as --t diagnosis=0.2"]),
    mistake(A, 2, "t and suppression", "@patients.csv --sensitive diagnosis --t diagnosis=0.3 --suppress 1% --qi age,sex --rest drop -k 5",
        &["so no row may be suppressed: remove --suppress or remove t"]),
    mistake(A, 2, "alpha in percent without its sign", "@patients.csv --sensitive diagnosis --alpha diagnosis=50 --qi age,sex --rest drop -k 5",
        &["alpha of column `diagnosis` must be above 0 and at most 1"]),
    mistake(A, 2, "all values of alpha misspelt", "@patients.csv --sensitive diagnosis --alpha diagnosis=0.5 --values diagnosis=cancr,astma --qi age,sex --rest drop -k 5",
        &["none of the values that alpha names occurs in column `diagnosis`", "check their spelling"]),
    mistake(B, 0, "one value of alpha misspelt", "@patients.csv --sensitive diagnosis --alpha diagnosis=0.5 --values diagnosis=cancr,asthma --qi age,sex --rest drop -k 5",
        &["warning: the value `cancr` that alpha names does not occur in column `diagnosis`", "check its spelling"]),
    mistake(A, 5, "hierarchy file that is not there", "@patients.csv --qi zip,sex --rest drop -k 5 --hierarchy zip=zip.csv",
        &["zip.csv: there is no such file, and column `zip` names it", "lookalike hierarchy new groups"]),
    mistake(A, 2, "hierarchy of an unknown kind", "@patients.csv --qi zip,sex --rest drop -k 5 --hierarchy zip=range:10,100",
        &["there is no hierarchy `range:`", "intervals:5,10,20 (numbers), prefix:4,3,2 (codes), date:month,year"]),
    mistake(A, 2, "prefixes shortest first", "@patients.csv --qi zip,sex --rest drop -k 5 --hierarchy zip=prefix:2,3,4",
        &["hierarchy of column `zip`: lengths of a prefix are given longest first", "prefix = [4, 3, 2]"]),
    mistake(A, 0, "prefix of a number", "@patients.csv --hierarchy age=prefix:1 --qi age,sex --rest drop -k 5",
        &["warning: column `age` has numbers, and its prefixes cut them like text", "--hierarchy age=intervals:5,10"]),
    mistake(A, 2, "weeks in months", "@patients.csv --qi admission,sex --rest drop -k 5 --hierarchy admission=date:week,month",
        &["column `admission`: a week can lie in two months", "date = [\"week\", \"year\"]"]),
    mistake(A, 2, "widths that do not nest", "@patients.csv --hierarchy age=intervals:5,10,25 --qi age,sex --rest drop -k 5",
        &["column `age`: width 25 is no multiple of 10", "such as 5, 10, 20"]),
    mistake(A, 0, "calendar on times with a zone", "@zone.csv -o - --qi seen --keep ill -k 2 --snap --hierarchy seen=date:month,year",
        &["2023-07,flu\n2023-07,flu\n2023-08,flu\n2023-08,flu"]),
    mistake(A, 3, "order without some labels", "@patients.csv --qi marital,sex --rest drop -k 5 --order marital=single,married",
        &["column `marital`, data row 2: the value is not in the order", "add it there; 1 other value"]),
    mistake(A, 3, "labels called numbers", "@patients.csv --qi marital,sex --rest drop -k 5 --kind marital=numeric",
        &["column `marital`, data row 1: not a number (as in 12.5)", "--missing TEXT", "--kind marital=categorical"]),
    mistake(A, 2, "unknown kind", "@patients.csv --kind age=int --qi age,sex --rest drop -k 5",
        &["--kind age=...: a kind is numeric, date, ordinal or categorical"]),
    mistake(A, 0, "decimal commas", "@comma.csv -o - --qi size,n -k 2 --kind size=numeric",
        &["`size` as 1234,5", "[170,5-171,5];[1-2]"]),
    mistake(A, 0, "local dates", "@days.csv -o - --qi day,n -k 2 --kind day=date",
        &["`day` as dd.mm.yyyy", "[27.12.2014 .. 28.12.2014],[1-2]"]),
    mistake(A, 3, "NA, NULL and n/a among numbers", "@gaps.csv --qi age,sex -k 2",
        &["`NA` (2 cells), `NULL` (1 cell), `n/a` (1 cell); in `age`", "--missing=NA --missing=NULL --missing=n/a"]),
    mistake(A, 2, "weight below 0", "@patients.csv --weight age=-1 --qi age,sex --rest drop -k 5",
        &["weight of column `age` must be a number from 0 to 1000000000"]),
    mistake(A, 0, "weight 0", "@patients.csv --weight age=0 --qi age,sex --rest drop -k 5",
        &["of the columns with a weight above 0", "column age has weight 0 and is not counted: "]),
    mistake(A, 0, "snap without a hierarchy", "@patients.csv --snap --qi age,sex --rest drop -k 5",
        &["warning: snap: column `age` has no hierarchy, its exact ends are published", "add --hierarchy age=intervals:5,10"]),
    mistake(A, 0, "names as a quasi-identifier", "@people.csv --qi name --rest drop -k 2",
        &["column `name` can only be published as `*`", "drop it (--identifier name)"]),
    mistake(A, 2, "names as a sensitive column", "@patients.csv --sensitive name --qi age,sex --rest drop -k 5",
        &["column `name` is sensitive but determines the quasi-identifier `sex`", "drop it (--identifier name)"]),
    mistake(A, 2, "names kept", "@patients.csv --keep name --qi age,sex --rest drop -k 5",
        &["column `name` is kept but determines the quasi-identifier `sex`", "drop it (--identifier name)", "--accept-dependent name"]),
    mistake(A, 2, "rule on an identifier", "@patients.csv --identifier diagnosis --l diagnosis=2 --qi age,sex --rest drop -k 5",
        &["column `diagnosis` has a rule for a sensitive column but another role", "set role = \"sensitive\" or remove the rule"]),
    mistake(A, 2, "k-on with a column that is no quasi-identifier", "@patients.csv --k-on 100:zip --qi age,sex --rest drop -k 5",
        &["column `zip`, which is not a quasi-identifier; those are `age`, `sex`"]),
    mistake(A, 2, "k-on without columns", "@patients.csv --k-on 100 --qi age,sex --rest drop -k 5",
        &["'100' for '--k-on <K:A,B,..>'", "for example 1000:state,county"]),
    mistake(A, 2, "wrong delimiter", "@patients.csv --delimiter ; --qi age,sex --rest drop -k 5",
        &["the table has one column only", "probably cut at the wrong delimiter", "name it with --delimiter"]),
    mistake(A, 2, "ring without consent", "@patients.csv --algorithm ring --qi age,sex --rest drop -k 5",
        &["ring makes non-homogeneous releases", "these rows differ from each other", "add --non-homogeneous"]),
    mistake(A, 2, "recoding of a local algorithm", "@patients.csv --recoding r.json --qi age,sex --rest drop -k 5",
        &["auto generalizes one value differently in different classes", "use --algorithm optimal or incognito"]),
    mistake(A, 2, "results and release both on standard output", "@patients.csv -o - --json --qi age,sex --rest drop -k 5",
        &["--json and the release would both go to standard output", "-o FILE"]),
    mistake(A, 3, "empty standard input", "@- --qi age,sex --rest drop -k 5",
        &["the file is empty: a table needs a header and rows"]),
    mistake(A, 3, "a header alone", "@header.csv --qi age --rest drop -k 5",
        &["the table has no rows"]),
    mistake(A, 3, "folder as a table", "@tmp --qi age,sex --rest drop -k 5",
        &["tmp: the folder has no Parquet files", "name one file of it"]),
    mistake(A, 0, "workbook as a table", "@book.xlsx -o - --qi Größe,Aufnahme --keep Ort -k 2",
        &["Bonn,170.5,2014-12-26\n", "sheet `Tabelle1` is read", "--sheet NAME"]),
    mistake(A, 3, "JSON lines as a table", "@lines.json --qi age -k 2",
        &["lines.json is JSON or JSON lines, not CSV", "convert it to CSV or Parquet"]),
    mistake(A, 0, "text that is not in UTF-8", "@latin.csv -o - --qi age --keep name -k 2",
        &["Müller,30", "read as Windows-1252", "--encoding windows-1252"]),
    mistake(A, 0, "text in UTF-16", "@utf16.csv -o - --qi age --keep name -k 2",
        &["name;age\n", "Müller;30\n"]),
    mistake(A, 2, "k below zero", "@patients.csv --qi age,sex --rest drop -k -5",
        &["'-5' for '-k <K>'", "write a whole number from 1 on"]),
    mistake(A, 2, "an empty list of columns", "@patients.csv --qi= --rest drop -k 5",
        &["--qi: its list is empty; name columns, as in --qi age,zip"]),
    mistake(A, 2, "a report as PDF", "report patients.csv patients.csv --qi age -o rep.pdf",
        &["rep.pdf would not open", "print the page from the browser as PDF"]),
    mistake(A, 2, "a report as a workbook", "report patients.csv patients.csv --qi age -o rep.xlsx",
        &["the report is a page in HTML", "use -o FILE.html"]),
    mistake(A, 2, "no header line", "@adult.csv --qi age --rest drop -k 2",
        &["the first line looks like a row", "add a header line", "--names"]),
    mistake(A, 3, "two columns of one name", "@twice.csv --qi age,sex -k 2",
        &["two columns are named `age`, the second is column 3: rename one"]),
    mistake(A, 3, "column without a name", "@index.csv --qi age,sex --rest drop -k 2",
        &["column 1 of 3 has no name: give it one in the header"]),
    mistake(A, 0, "a line sep=; on top", "@sep.csv -o - --qi age --keep sex -k 2",
        &["age;sex\n30;f\n30;m\n"]),
    mistake(A, 0, "a comment on top", "@comment.csv -o - --qi age --keep name -k 2",
        &["the first line of the table is taken for a comment", "name,age\nx,30\ny,30\n"]),
    mistake(A, 3, "row with too few cells", "@ragged.csv --qi age,sex,zip -k 2",
        &["row 2 (line 3) has 2 cells, but the header has 3", "quote cells that contain the delimiter `,`", "--delimiter"]),
    mistake(A, 3, "quote that is not closed", "@quote.csv --qi age,sex -k 2",
        &["row 2 (line 3) opens a quote that is never closed", "double the quotes inside"]),
    mistake(A, 3, "row of totals at the end", "@total.csv --qi age,sex -k 2",
        &["column `age`, data row 61: text in a column that looks numeric", "fix the cell", "--missing TEXT"]),
    mistake(A, 3, "a star as a value", "@star.csv --qi age,town -k 2",
        &["column `town`, data row 1: the cell is `*`", "if the table is a release, begin with its source", "write another text"]),
    mistake(A, 0, "nested column", "init nested.parquet -o nested.toml",
        &["wrote nested.toml"]),
    mistake(A, 3, "numbers of 19 digits", "@long.csv --qi v,sex -k 2",
        &["column `v`, data row 2: a number or time has more digits", "say --kind v=categorical"]),
    mistake(A, 2, "key in capitals", "@patients.csv -c upper.toml --rest drop",
        &["upper.toml: TOML parse error at line 1, column 1", "unknown field `K`, expected one of `version`, `k`"]),
    mistake(A, 2, "role misspelt", "@patients.csv -c role.toml --rest drop",
        &["role.toml: TOML parse error at line 3, column 16", "`quasy`, expected one of `quasi`, `sensitive`"]),
    mistake(A, 2, "key misspelt", "@patients.csv -c key.toml --rest drop",
        &["key.toml: TOML parse error at line 3, column 25", "unknown field `hierachy`, expected one of", "`hierarchy`"]),
    mistake(B, 2, "brace that is not closed", "@patients.csv -c brace.toml --rest drop",
        &["brace.toml: TOML parse error at line 4, column 1", "missing comma between key-value pairs"]),
    mistake(A, 2, "number in quotes", "@patients.csv -c quoted.toml --rest drop",
        &["quoted.toml: TOML parse error at line 1, column 5", "expected a whole number without quotes"]),
    mistake(A, 2, "column that the table does not have", "@patients.csv -c column.toml --rest drop",
        &["there is no column `Alter` (the table has `name`, `age`, `zip`"]),
    mistake(A, 2, "a column on two lines", "@patients.csv -c double.toml --rest drop",
        &["double.toml: TOML parse error at line 5, column 1", "duplicate key"]),
    mistake(A, 3, "order of an example left in", "@patients.csv -c order.toml --rest drop",
        &["column `marital`, data row 1: the value is not in the order", "add it there; 3 other values"]),
    mistake(A, 2, "command misspelt", "anonimize patients.csv",
        &["unrecognized subcommand 'anonimize'", "similar subcommands exist", "'anonymize'"]),
    mistake(A, 1, "verify with a larger k", "verify safe.csv --source people.csv --identifier name --qi age,sex --sensitive ill -k 3",
        &["BROKEN  k = 3 by 2 classes with 4 rows", "2 rows, 3 needed", "NOT verified"]),
    mistake(A, 1, "release with a changed diagnosis", "verify forged.csv --source people.csv --identifier name --qi age,sex --sensitive ill -k 2",
        &["BROKEN  1 released row has cells in the other columns that no source row accounts for", "NOT verified"]),
    mistake(A, 1, "release with names", "verify leaked.csv --source people.csv --identifier name --qi age,sex --sensitive ill -k 2",
        &["LEAK    identifier `name` is in the release", "NOT verified"]),
    mistake(A, 3, "verify with another source", "verify safe.csv --source income.csv --qi age,sex --sensitive ill -k 2",
        &["the source has no column `sex`"]),
    mistake(A, 2, "first line of a hierarchy with another root", "hierarchy check roots.csv",
        &["hierarchy roots.csv, line 1", "all other lines end in `*`", "else end it in `*` too"]),
    mistake(A, 2, "value with two parents", "hierarchy check parents.csv",
        &["parents.csv, line 5: the value `single` lies below `together`, but below `alone` on line 1", "keep one parent"]),
    mistake(A, 2, "short line in a hierarchy", "hierarchy check short.csv",
        &["short.csv, line 4: 2 columns where line 1 has 3", "pad a short path by repeating a label"]),
    mistake(A, 2, "hierarchy without a value", "@patients.csv --qi marital,sex --rest drop -k 5 --hierarchy marital=gap.csv",
        &["column `marital` in data row 3 is not in the file: add a line for it", "lookalike hierarchy check gap.csv", "--show-values"]),
    mistake(A, 0, "hierarchy with a misspelt value besides", "hierarchy check extra.csv --data patients.csv --column marital",
        &["1 value of the file is in no row of column marital:\n  widwed\n"]),
    mistake(A, 0, "compare with an impossible k", "compare patients.csv --k 5,3000 --algorithms mondrian --queries 0 --bound none --qi age,sex --rest drop",
        &["not met: k = 3000 cannot be met", "the largest feasible k is 2000"]),
    mistake(A, 0, "verify without paths", "verify -c paths.toml",
        &["checked   safe.csv against people.csv, as in the configuration", "verified: 2-anonymous"]),
];

/// Small tables: name and content.
const TABLES: [(&str, &[u8]); 26] = [
    ("old.csv", b"a\n"),
    ("header.csv", b"name,age\n"),
    (
        "zone.csv",
        b"seen,ill\n2023-07-01T00:30:00+02:00,flu\n2023-07-09T10:00:00+02:00,flu\n\
          2023-08-01T00:30:00+02:00,flu\n2023-08-09T10:00:00+02:00,flu\n",
    ),
    ("comma.csv", b"size;n\n170,5;1\n171,5;2\n180,5;3\n181,5;4\n"),
    ("days.csv", b"day,n\n27.12.2014,1\n28.12.2014,2\n29.11.2015,3\n30.11.2015,4\n"),
    ("gaps.csv", b"age,sex\nNA,f\n30,f\nNULL,f\n31,f\nn/a,f\n32,f\nNA,f\n"),
    ("lines.json", b"{\"age\": 30}\n{\"age\": 31}\n"),
    ("latin.csv", b"name,age\nM\xfcller,30\nSchmidt,30\n"),
    ("adult.csv", b"39,State-gov,77516\n50,Private,83311\n38,Private,215646\n"),
    ("twice.csv", b"age,sex,age\n1,f,2\n"),
    ("index.csv", b",age,sex\n0,30,f\n1,30,f\n"),
    ("sep.csv", b"sep=;\nage;sex\n30;f\n30;m\n"),
    ("comment.csv", b"# exported 2024-01-01\nname,age\nx,30\ny,30\n"),
    ("ragged.csv", b"age,sex,zip\n30,f,1\n31,m\n"),
    ("quote.csv", b"age,sex\n30,f\n31,\"m\n32,f\n"),
    ("star.csv", b"age,town\n30,*\n30,Ulm\n31,Ulm\n"),
    ("long.csv", b"v,sex\n1234567890123456789,f\n1234567890123456790,f\n"),
    ("people.csv", b"name,age,sex,ill\nAnn,30,f,flu\nBea,30,f,gout\nCai,40,m,flu\nDan,40,m,cold\n"),
    ("safe.csv", b"age,sex,ill\n30,f,flu\n30,f,gout\n40,m,flu\n40,m,cold\n"),
    ("forged.csv", b"age,sex,ill\n30,f,flu\n30,f,gout\n40,m,flu\n40,m,cancer\n"),
    ("leaked.csv", b"name,age,sex,ill\nAnn,30,f,flu\nBea,30,f,gout\nCai,40,m,flu\nDan,40,m,cold\n"),
    // Hierarchies of the marital status.
    ("roots.csv", b"single;alone;top\ndivorced;alone;*\nwidowed;alone;*\nmarried;together;*\n"),
    (
        "parents.csv",
        b"single;alone;*\ndivorced;alone;*\nwidowed;alone;*\nmarried;together;*\n\
          single;together;*\n",
    ),
    ("short.csv", b"single;alone;*\ndivorced;alone;*\nwidowed;alone;*\nmarried;*\n"),
    ("gap.csv", b"single;alone;*\ndivorced;alone;*\nwidowed;alone;*\n"),
    (
        "extra.csv",
        b"single;alone;*\ndivorced;alone;*\nwidowed;alone;*\nmarried;together;*\nwidwed;alone;*\n",
    ),
];

/// Configurations: name, the lines before the columns, and the columns.
const CONFIGURATIONS: [(&str, &str, &str); 10] = [
    ("upper.toml", "K = 5", "age = { role = 'quasi' }"),
    ("role.toml", "k = 5", "age = { role = 'quasy' }"),
    ("key.toml", "k = 5", "age = { role = 'quasi', hierachy = { prefix = [1] } }"),
    ("brace.toml", "k = 5", "age = { role = 'quasi'\nsex = { role = 'quasi' }"),
    ("quoted.toml", "k = \"5\"", "age = { role = 'quasi' }"),
    ("column.toml", "k = 5", "Alter = { role = 'quasi' }\nsex = { role = 'quasi' }"),
    (
        "double.toml",
        "k = 5",
        "age = { role = 'quasi' }\nsex = { role = 'quasi' }\nsex = { role = 'keep' }",
    ),
    ("order.toml", "k = 5", "marital = { role = 'quasi', order = ['low', 'medium', 'high'] }"),
    ("percent.toml", "k = 5\n[limits]\nsuppress = 1", "age = { role = 'quasi' }"),
    (
        "paths.toml",
        "k = 2\n[input]\npath = 'people.csv'\n[output]\npath = 'safe.csv'",
        "name = { role = 'identifier' }\nage = { role = 'quasi' }\nsex = { role = 'quasi' }\n\
         ill = { role = 'sensitive' }",
    ),
];

/// The folder with all files that the command lines name.
fn folder() -> Workdir {
    let dir = Workdir::new();
    dir.succeed("synth hospital --rows 2000 -o patients.csv");
    for (name, content) in TABLES {
        dir.write(name, content);
    }
    for (name, settings, columns) in CONFIGURATIONS {
        dir.write(name, format!("{settings}\n[columns]\n{columns}\n"));
    }
    dir.write("book.xlsx", include_bytes!("book.xlsx"));
    let utf16 = "\u{feff}name;age\nMüller;30\nSchmidt;30\n".encode_utf16();
    dir.write("utf16.csv", utf16.flat_map(u16::to_le_bytes).collect::<Vec<_>>());
    let income = |i: usize| {
        format!("{},{}\n", 20 + i % 40, ["high", "low"][usize::from(!i.is_multiple_of(16))])
    };
    dir.write("income.csv", "age,income\n".to_string() + &(0..200).map(income).collect::<String>());
    let ages: String = (18..78).map(|age| format!("{age},f\n")).collect();
    dir.write("total.csv", format!("age,sex\n{ages}Total,60\n"));
    let tags = [vec![Some(1)], vec![Some(2), Some(3)], vec![Some(4)]].map(Some);
    let tags: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(tags));
    let ages: ArrayRef = Arc::new(Int64Array::from(vec![30, 30, 31]));
    dir.write_typed("nested.parquet", vec![("age", ages), ("tags", tags)]);
    dir
}

/// Runs the line of a mistake; none where it needs a terminal and there is no way to have one.
fn run(dir: &Workdir, number: usize, line: &str) -> Option<Run> {
    if let Some(line) = line.strip_prefix("tty ") {
        let script = format!("script -qec \"'$0' {line}\" /dev/null");
        let can = cfg!(target_os = "linux")
            && dir.shell("command -v script > /dev/null").status().unwrap().success();
        return can.then(|| ended(&dir.shell(&script).output().unwrap()));
    }
    let Some(rest) = line.strip_prefix('@') else { return Some(dir.run(line)) };
    let output = if rest.contains(" -o ") { String::new() } else { format!("-o {number}.csv") };
    Some(dir.run(&format!("anonymize {rest} --steps 1 --bound none {output}")))
}

#[test]
fn every_mistake_is_answered() {
    let dir = folder();
    let mut failures = String::new();
    for (number, mistake) in (1..).zip(&MISTAKES) {
        let Some(run) = run(&dir, number, mistake.line) else { continue };
        let is_said = |part: &&&str| run.stderr.contains(**part) || run.stdout.contains(**part);
        let missing: Vec<_> = mistake.says.iter().filter(|part| !is_said(part)).collect();
        if run.code != Some(mistake.code) || !missing.is_empty() {
            failures += &format!(
                "{number}. {}: {}\n  code {:?}, wanted {}; not said: {missing:?}\n  {}{}\n",
                mistake.what, mistake.line, run.code, mistake.code, run.stderr, run.stdout
            );
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn few_answers_lack_something() {
    let mistakes = &MISTAKES;
    let good = mistakes.iter().filter(|mistake| mistake.rating == A).count();
    let lacking: Vec<&str> =
        mistakes.iter().filter(|mistake| mistake.rating == B).map(|mistake| mistake.what).collect();
    assert!(lacking.len() <= 5, "{lacking:?}");
    assert_eq!(good + lacking.len(), 100);
    assert!(mistakes.iter().all(|mistake| !mistake.says.is_empty()));
}
