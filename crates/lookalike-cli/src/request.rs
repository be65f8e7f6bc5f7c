//! From flags and a TOML file to one [`Request`]: the file first, then every flag over it.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lookalike::request::ratio::Ratio;
use lookalike::request::{
    ColumnRequest, DateSpec, DateUnit, Distance, HierarchySpec, IntervalsSpec, Kind, Order,
    PrefixSpec, Recursive, Rest, Role, Share, SubsetRule,
};
use lookalike::{Error, Request, Result};

use crate::args::{
    CoarseningArgs, ColumnArgs, ColumnValue, ReadingArgs, ReleaseArgs, ReleasedArgs, RequestFlags,
    RuleArgs, SearchArgs, WritingArgs,
};
use serde::de::value::Error as NameError;
use serde::de::{DeserializeOwned, IntoDeserializer};

/// The error for a request that makes no sense.
pub(crate) fn usage(why: impl Into<String>) -> Error {
    Error::request("usage", why)
}

impl RequestFlags {
    /// The configuration file, overridden by the flags.
    pub(crate) fn request(&self) -> Result<Request> {
        let mut request = match &self.config {
            Some(path) => Request::read(path)?,
            None => Request::default(),
        };
        override_by(&mut request, &self.reading, &self.columns, &self.rules)?;
        Ok(request)
    }
}

/// Overrides the configuration by the flags that every request has.
pub(crate) fn override_by(
    request: &mut Request,
    reading: &ReadingArgs,
    columns: &ColumnArgs,
    rules: &RuleArgs,
) -> Result<()> {
    reading.apply_to(&mut request.input);
    columns.apply_to(request)?;
    rules.apply_to(request)
}

impl CoarseningArgs {
    fn apply_to(&self, request: &mut Request) -> Result<()> {
        for pair in &self.round {
            line(request, "--round", pair)?.round = Some(parsed("--round", "a number", pair)?);
        }
        for pair in &self.top {
            line(request, "--top", pair)?.top = Some(parsed("--top", "a number", pair)?);
        }
        for pair in &self.bottom {
            line(request, "--bottom", pair)?.bottom = Some(parsed("--bottom", "a number", pair)?);
        }
        for name in &self.hash {
            match request.columns.get_mut(name) {
                Some(line) => line.hash = true,
                None => {
                    let line = ColumnRequest { hash: true, ..ColumnRequest::new(Role::Identifier) };
                    request.columns.insert(name.clone(), line);
                }
            }
        }
        if self.hash_key.is_some() {
            request.output.hash_key.clone_from(&self.hash_key);
        }
        Ok(())
    }
}

impl ColumnArgs {
    fn apply_to(&self, request: &mut Request) -> Result<()> {
        let given = [
            ("--qi", Role::Quasi, &self.qi),
            ("--sensitive", Role::Sensitive, &self.sensitive),
            ("--identifier", Role::Identifier, &self.identifier),
            ("--keep", Role::Keep, &self.keep),
            ("--person", Role::Person, &self.person),
            ("--sampling-weight", Role::Weight, &self.sampling_weight),
        ];
        let mut seen: Vec<(&String, &str)> = Vec::new();
        for (flag, role, names) in given {
            if names.iter().any(String::is_empty) {
                let what = if names.len() == 1 { "its list is empty" } else { "a name is empty" };
                return Err(usage(format!("{flag}: {what}; name columns, as in {flag} age,zip")));
            }
            for name in names {
                if let Some((_, other)) =
                    seen.iter().find(|(earlier, other)| *earlier == name && *other != flag)
                {
                    return Err(usage(format!(
                        "column `{name}` is in both {other} and {flag}: a column has one role"
                    )));
                }
                seen.push((name, flag));
                // The file's options for another role would not fit.
                if request.column(name).is_none_or(|line| line.role != role) {
                    request.columns.insert(name.clone(), ColumnRequest::new(role));
                }
            }
        }
        if self.rest.is_some() {
            request.rest = self.rest;
        }
        request.accept_unique |= self.accept_unique;
        if !self.missing.is_empty() {
            request.missing.clone_from(&self.missing);
        }
        if !self.purpose.is_empty() {
            request.purpose.clone_from(&self.purpose);
        }
        if self.count.is_some() {
            request.count.clone_from(&self.count);
        }
        if self.persons.is_some() {
            request.persons = self.persons;
        }
        request.output.pseudonyms |= self.pseudonyms;
        for pair in &self.kind {
            line(request, "--kind", pair)?.kind = Some(kind(pair)?);
        }
        for pair in &self.weight {
            line(request, "--weight", pair)?.weight = Some(parsed("--weight", "a number", pair)?);
        }
        for pair in &self.hierarchy {
            line(request, "--hierarchy", pair)?.hierarchy = Some(hierarchy(pair)?);
        }
        for pair in &self.order {
            line(request, "--order", pair)?.order = Some(order(pair)?);
        }
        for name in &self.dependent {
            match (request.columns.get_mut(name), request.rest) {
                (Some(line), _) => line.dependent = true,
                (None, Some(Rest::Keep)) => {
                    let line = ColumnRequest { dependent: true, ..ColumnRequest::new(Role::Keep) };
                    request.columns.insert(name.clone(), line);
                }
                (None, _) => return Err(no_role("--accept-dependent", name)),
            }
        }
        self.coarsening.apply_to(request)?;
        for pair in &self.reason {
            line(request, "--reason", pair)?.reason = Some(pair.value.clone());
        }
        Ok(())
    }
}

impl RuleArgs {
    fn apply_to(&self, request: &mut Request) -> Result<()> {
        if self.k.is_some() {
            request.k = self.k;
        }
        if !self.k_on.is_empty() {
            request.rules = self
                .k_on
                .iter()
                .map(|rule| SubsetRule { k: rule.k, columns: rule.columns.clone() })
                .collect();
        }
        for pair in &self.alpha {
            line(request, "--alpha", pair)?.alpha = Some(share("--alpha", pair)?);
        }
        for pair in &self.values {
            line(request, "--values", pair)?.values =
                Some(pair.value.split(',').map(String::from).collect());
        }
        for pair in &self.l {
            line(request, "--l", pair)?.l = Some(l_of(pair)?);
        }
        for pair in &self.distinct_l {
            line(request, "--distinct-l", pair)?.distinct =
                Some(parsed("--distinct-l", "a whole number", pair)?);
        }
        for pair in &self.entropy_l {
            line(request, "--entropy-l", pair)?.entropy = Some(share("--entropy-l", pair)?);
        }
        for pair in &self.recursive {
            line(request, "--recursive", pair)?.recursive = Some(recursive(pair)?);
        }
        for pair in &self.t {
            line(request, "--t", pair)?.t = Some(share("--t", pair)?);
        }
        for pair in &self.distance {
            line(request, "--distance", pair)?.distance = Some(distance(pair)?);
        }
        if let Some(suppress) = self.suppress {
            request.limits.suppress = Some(Share(suppress));
        }
        Ok(())
    }
}

impl ReleaseArgs {
    /// Overrides the configuration by these flags.
    pub(crate) fn apply_to(&self, request: &mut Request) -> Result<()> {
        if let Some(algorithm) = &self.algorithm {
            request.algorithm = Some(algorithm.clone());
        }
        self.writing.apply_to(request);
        self.how.apply_to(request)
    }
}

impl SearchArgs {
    /// Overrides the configuration by these flags.
    pub(crate) fn apply_to(&self, request: &mut Request) -> Result<()> {
        if self.rounds.is_some() {
            request.rounds = self.rounds;
        }
        if self.steps.is_some() {
            request.steps = self.steps;
        }
        if let Some(price) = self.suppression_price {
            request.limits.suppression_price = Some(Share(price));
        }
        if let Some(cost) = &self.cost {
            request.cost = Some(cost.clone());
        }
        if let Some(time) = &self.time {
            request.limits.time = Some(time.clone());
        }
        if let Some(dialect) = self.dialect {
            request.output.dialect = dialect;
        }
        if let Some(publish) = self.publish {
            request.output.publish = publish;
        }
        request.non_homogeneous |= self.non_homogeneous;
        request.output.snap |= self.snap;
        for scheme in &self.scheme {
            match scheme.split_once('=') {
                None => request.scheme = Some(scheme.clone()),
                Some((column, name)) => {
                    let pair = ColumnValue { column: column.to_string(), value: name.to_string() };
                    line(request, "--scheme", &pair)?.scheme = Some(pair.value.clone());
                }
            }
        }
        Ok(())
    }
}

impl ReleasedArgs {
    /// Overrides the configuration by these flags.
    pub(crate) fn apply_to(&self, request: &mut Request) {
        request.output.raw_formulas |= self.raw_formulas;
    }
}

impl WritingArgs {
    /// Overrides the configuration by these flags.
    pub(crate) fn apply_to(&self, request: &mut Request) {
        if self.input_order {
            request.output.order = Order::Input;
        }
        request.output.raw_formulas |= self.raw_formulas;
        request.output.codebook |= self.codebook;
        if let Some(most) = self.max_loss {
            request.limits.max_loss = Some(Share(most));
        }
    }
}

/// The table to read: the one that was typed, else the configuration's.
pub(crate) fn data(typed: Option<&PathBuf>, request: &Request) -> Result<PathBuf> {
    typed.or(request.input.path.as_ref()).cloned().ok_or_else(|| {
        let here = if Path::new("lookalike.toml").exists() {
            " (there is one here: -c lookalike.toml)"
        } else {
            ""
        };
        usage(format!(
            "no table: name a file, - for standard input, or a configuration with a table{here}"
        ))
    })
}

fn line<'a>(
    request: &'a mut Request,
    flag: &str,
    pair: &ColumnValue,
) -> Result<&'a mut ColumnRequest> {
    request.columns.get_mut(&pair.column).ok_or_else(|| no_role(flag, &pair.column))
}

/// The error for a flag about a column without a role: the roles that the flag goes with.
fn no_role(flag: &str, column: &str) -> Error {
    let roles = match flag {
        "--weight" | "--scheme" => "--qi",
        "--hierarchy" | "--order" => "--qi or --sensitive",
        "--accept-dependent" => "--sensitive or --keep",
        "--kind" => "--qi, --sensitive or --keep",
        "--reason" => "--qi, --sensitive, --keep or --identifier",
        // Rules.
        _ => "--sensitive",
    };
    usage(format!("{flag} names column `{column}`, which has no role: add it to {roles}"))
}

fn parsed<T: FromStr>(flag: &str, what: &str, pair: &ColumnValue) -> Result<T> {
    pair.value.parse().map_err(|_| usage(format!("{flag} {}=...: this is not {what}", pair.column)))
}

/// The l of l-diversity. A broken number is a share, or the l of another rule.
fn l_of(pair: &ColumnValue) -> Result<u64> {
    let column = &pair.column;
    pair.value.parse().map_err(|_| match pair.value.parse::<f64>() {
        Ok(l) if l > 1.0 && l.is_finite() => usage(format!(
            "--l {column}=...: this is not a whole number; for a value in at most 1/{l} of a class \
             write --alpha {column}={:.2}, for entropy --entropy-l {column}={l}",
            1.0 / l
        )),
        _ => usage(format!("--l {column}=...: this is not a whole number")),
    })
}

fn share(flag: &str, pair: &ColumnValue) -> Result<Share> {
    let bad = |why: Error| usage(format!("{flag} {}=...: {why}", pair.column));
    pair.value.parse::<Ratio>().map(Share).map_err(bad)
}

/// The value of an enum by its name in the TOML file.
pub(crate) fn named<T: DeserializeOwned>(name: &str) -> Option<T> {
    let name: serde::de::value::StrDeserializer<NameError> = name.into_deserializer();
    T::deserialize(name).ok()
}

fn kind(pair: &ColumnValue) -> Result<Kind> {
    named(&pair.value).ok_or_else(|| {
        usage(format!(
            "--kind {}=...: a kind is numeric, date, ordinal or categorical",
            pair.column
        ))
    })
}

fn distance(pair: &ColumnValue) -> Result<Distance> {
    named(&pair.value).ok_or_else(|| {
        usage(format!(
            "--distance {}=...: a distance is equal, ordered or hierarchical",
            pair.column
        ))
    })
}

fn hierarchy(pair: &ColumnValue) -> Result<HierarchySpec> {
    let bad = |why: &str| usage(format!("--hierarchy {}=...: {why}", pair.column));
    Ok(match pair.value.split_once(':') {
        Some(("intervals", widths)) => {
            let intervals = list(widths)
                .ok_or_else(|| bad("widths are numbers, smallest first: intervals:5,10,20"))?;
            HierarchySpec::Intervals(IntervalsSpec {
                intervals,
                origin: 0.0,
                bottom: None,
                top: None,
            })
        }
        Some(("prefix", lengths)) => {
            let prefix = list(lengths)
                .ok_or_else(|| bad("lengths are whole numbers, largest first: prefix:4,3,2"))?;
            HierarchySpec::Prefix(PrefixSpec { prefix })
        }
        Some(("date", units)) => {
            let date: Option<Vec<DateUnit>> =
                units.split(',').map(|text| named(text.trim())).collect();
            let date = date.ok_or_else(|| {
                bad("units are day, week, month, quarter, half-year, year, five-years or decade, smallest first: \
                     date:month,year")
            })?;
            HierarchySpec::Date(DateSpec { date })
        }
        Some(("builtin", _)) => HierarchySpec::from_text(&pair.value).map_err(|why| bad(&why))?,
        Some((name, _)) if is_word(name) && !Path::new(&pair.value).exists() => {
            return Err(bad(&format!(
                "there is no hierarchy `{name}:`; write intervals:5,10,20 (numbers), prefix:4,3,2 \
                 (codes), date:month,year (dates), builtin:countries or the name of a file"
            )));
        }
        _ => HierarchySpec::File(PathBuf::from(&pair.value)),
    })
}

/// A word before a colon; a drive of Windows is one letter.
fn is_word(text: &str) -> bool {
    text.len() > 1 && text.chars().all(|c| c.is_ascii_alphabetic() || c == '_' || c == '-')
}

fn list<T: FromStr>(text: &str) -> Option<Vec<T>> {
    text.split(',').map(|item| item.trim().parse().ok()).collect()
}

/// A file with one label per line, or the labels themselves.
fn order(pair: &ColumnValue) -> Result<Vec<String>> {
    let file = Path::new(&pair.value);
    if pair.value.contains(',') && !file.exists() {
        return Ok(pair.value.split(',').map(String::from).collect());
    }
    if !file.exists() {
        return Err(usage(format!(
            "--order {}=...: there is no such file; name a file with one label per line, or write \
             the labels with commas: low,mid,high",
            pair.column
        )));
    }
    let text = std::fs::read_to_string(file).map_err(|source| Error::io(file, source))?;
    Ok(text.lines().map(str::trim_end).filter(|line| !line.is_empty()).map(String::from).collect())
}

fn recursive(pair: &ColumnValue) -> Result<Recursive> {
    let bad =
        || usage(format!("--recursive {}=...: write it as C:L, for example 3:2", pair.column));
    let (c, l) = pair.value.split_once(':').ok_or_else(bad)?;
    Ok(Recursive { c: Share(c.parse().map_err(|_| bad())?), l: l.parse().map_err(|_| bad())? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn request(flags: &str) -> Result<Request> {
        let typed = ["lookalike", "check", "t.csv"].into_iter().chain(flags.split_whitespace());
        match Cli::try_parse_from(typed).unwrap().command {
            Command::Check(check) => check.request.request(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_say_the_same_as_the_file() {
        let flags = request(
            "--qi age,zip,edu,when,w --sensitive d --identifier name --keep ward --rest keep --accept-unique -k 10 --k-on 1000:age,zip \
             --kind age=numeric --weight age=2 --hierarchy age=intervals:5,10 --hierarchy zip=prefix:4,3 \
             --hierarchy when=date:month,year --hierarchy w=w.csv --order edu=low,high --missing ? --missing NA --count n --alpha d=0.5 \
             --values d=HIV,Flu --l d=3 --distinct-l d=2 --entropy-l d=2.5 --recursive d=3:2 --t d=0.2 --distance d=ordered \
             --suppress 1% --accept-dependent ward --delimiter tab",
        );
        let file = Request::parse(
            r#"
            k = 10
            rest = "keep"
            accept_unique = true
            missing = ["?", "NA"]
            count = "n"
            rules = [{ k = 1000, columns = ["age", "zip"] }]
            input.delimiter = "\t"
            limits.suppress = "1%"
            [columns]
            name = { role = "identifier" }
            age = { role = "quasi", kind = "numeric", weight = 2, hierarchy = { intervals = [5, 10] } }
            zip = { role = "quasi", hierarchy = { prefix = [4, 3] } }
            edu = { role = "quasi", order = ["low", "high"] }
            when = { role = "quasi", hierarchy = { date = ["month", "year"] } }
            w = { role = "quasi", hierarchy = "w.csv" }
            ward = { role = "keep", dependent = true }
            [columns.d]
            role = "sensitive"
            alpha = 0.5
            values = ["HIV", "Flu"]
            l = 3
            distinct = 2
            entropy = 2.5
            recursive = { c = 3, l = 2 }
            t = 0.2
            distance = "ordered"
            "#,
        );
        assert_eq!(flags.unwrap(), file.unwrap());
    }

    #[test]
    fn a_column_has_one_role_and_a_flag_needs_a_column_with_one() {
        for (flags, why) in [
            ("--qi a,b --keep a", "both --qi and --keep"),
            ("--qi a --alpha d=0.5", "which has no role"),
            ("--qi a --accept-dependent b --rest drop", "which has no role"),
            ("--qi a --kind a=number", "a kind is numeric"),
            ("--qi a --hierarchy a=intervals:x", "widths are numbers"),
            ("--sensitive d --alpha d=often", "not a ratio"),
            ("--sensitive d --recursive d=3", "C:L"),
        ] {
            let error = request(flags).unwrap_err().to_string();
            assert!(error.contains(why), "{flags}: {error}");
        }
        let hidden = "--qi a --rest keep --dependent b";
        assert_eq!(
            request(hidden).unwrap(),
            request("--qi a --rest keep --accept-dependent b").unwrap(),
            "the old name of the flag"
        );
        assert!(request("--qi a --qi a,b").is_ok(), "twice the same role is no contradiction");
        assert_eq!(
            request("--qi a --weight a=b=2").unwrap_err().to_string(),
            "--weight a=...: this is not a number"
        );
    }
}
