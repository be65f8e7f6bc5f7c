//! A request method by method. No method fails: what is wrong with a request is found when it is
//! used, whatever it was made from.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use super::{
    ColumnRequest, Conflict, Decimal, Dialect, HierarchySpec, Kind, Order, Persons, Publish,
    Request, Rest, Role, SensitiveRule, Share, SubsetRule,
};
use crate::forms::{DateForm, Form};

impl Request {
    /// A request for classes of at least `k` rows. Columns and everything else are added by the
    /// methods below.
    ///
    /// # Example
    /// ```
    /// use lookalike::{HierarchySpec, Request, l_diversity};
    ///
    /// let request = Request::new(5)
    ///     .quasi_identifiers(["age", "zip", "sex"])
    ///     .hierarchy("zip", HierarchySpec::prefix([4, 3]))
    ///     .sensitive("diagnosis", [l_diversity(2)])
    ///     .suppress_up_to(0.01)
    ///     .drop_others();
    /// let same = "k = 5
    ///     rest = 'drop'
    ///     limits.suppress = 0.01
    ///     [columns]
    ///     age = { role = 'quasi' }
    ///     zip = { role = 'quasi', hierarchy = { prefix = [4, 3] } }
    ///     sex = { role = 'quasi' }
    ///     diagnosis = { role = 'sensitive', l = 2 }";
    /// assert_eq!(request, Request::parse(same)?);
    /// # Ok::<(), lookalike::Error>(())
    /// ```
    #[must_use]
    pub fn new(k: u64) -> Request {
        Request { k: Some(k), ..Request::default() }
    }

    /// Columns that could be joined with outside data: they are generalized.
    #[must_use]
    pub fn quasi_identifiers(self, names: impl IntoIterator<Item: Into<String>>) -> Request {
        self.with_role(Role::Quasi, names)
    }

    /// A column whose values must not be inferred of a person: it is published, and every class
    /// satisfies the rules on its values.
    #[must_use]
    pub fn sensitive(
        self,
        name: impl Into<String>,
        rules: impl IntoIterator<Item = SensitiveRule>,
    ) -> Request {
        let name = name.into();
        self.with_role(Role::Sensitive, [name.clone()])
            .with(name, |column| rules.into_iter().for_each(|rule| rule.add_to(column)))
    }

    /// Columns that name a person: they are not published.
    #[must_use]
    pub fn identifiers(self, names: impl IntoIterator<Item: Into<String>>) -> Request {
        self.with_role(Role::Identifier, names)
    }

    /// Columns that are published unchanged.
    #[must_use]
    pub fn keep(self, names: impl IntoIterator<Item: Into<String>>) -> Request {
        self.with_role(Role::Keep, names)
    }

    /// The columns that name the person of a row, together: rows of one person count as one person.
    #[must_use]
    pub fn person(self, names: impl IntoIterator<Item: Into<String>>) -> Request {
        self.with_role(Role::Person, names)
    }

    /// The sampling weight of a survey: how many persons of the population a row stands for.
    #[must_use]
    pub fn sampling_weight(self, name: impl Into<String>) -> Request {
        self.with_role(Role::Weight, [name])
    }

    /// A table of the population with the same quasi-identifiers, for measures of risk.
    #[must_use]
    pub fn population(mut self, path: impl Into<PathBuf>) -> Request {
        self.risk.population = Some(path.into());
        self
    }

    /// The share of the population that is in the table, for measures of risk.
    #[must_use]
    pub fn sampling_fraction_of(mut self, share: impl Into<Share>) -> Request {
        self.risk.sampling_fraction = Some(share.into());
        self
    }

    /// How the rows of one person are counted.
    #[must_use]
    pub fn persons(mut self, persons: Persons) -> Request {
        self.persons = Some(persons);
        self
    }

    /// Publishes the numbers of a kept or sensitive column as the nearest multiple of this one.
    #[must_use]
    pub fn round(self, name: impl Into<String>, step: Decimal) -> Request {
        self.with(name.into(), |column| column.round = Some(step))
    }

    /// Top coding: a greater number of a kept or sensitive column is published as this one.
    #[must_use]
    pub fn top(self, name: impl Into<String>, limit: Decimal) -> Request {
        self.with(name.into(), |column| column.top = Some(limit))
    }

    /// Bottom coding: a smaller number of a kept or sensitive column is published as this one.
    #[must_use]
    pub fn bottom(self, name: impl Into<String>, limit: Decimal) -> Request {
        self.with(name.into(), |column| column.bottom = Some(limit))
    }

    /// Publishes a keyed hash of each identifier in its place.
    #[must_use]
    pub fn hash(self, name: impl Into<String>) -> Request {
        self.with(name.into(), |column| column.hash = true)
    }

    /// The file with the secret key of the hashes.
    #[must_use]
    pub fn hash_key(mut self, path: impl Into<PathBuf>) -> Request {
        self.output.hash_key = Some(path.into());
        self
    }

    /// The file for the proof of a release of persons or of rings, which the command line writes.
    #[must_use]
    pub fn proof(mut self, path: impl Into<PathBuf>) -> Request {
        self.output.proof = Some(path.into());
        self
    }

    /// Publishes a random number for each person in place of the person key.
    #[must_use]
    pub fn pseudonyms(mut self) -> Request {
        self.output.pseudonyms = true;
        self
    }

    /// The columns without a role are not published.
    #[must_use]
    pub fn drop_others(mut self) -> Request {
        self.rest = Some(Rest::Drop);
        self
    }

    /// The columns without a role are published unchanged.
    #[must_use]
    pub fn keep_others(mut self) -> Request {
        self.rest = Some(Rest::Keep);
        self
    }

    /// Publishes the columns without a role although many rows are unique on the columns that are
    /// published unchanged. Only with [`keep_others`](Request::keep_others).
    #[must_use]
    pub fn accept_unique(mut self) -> Request {
        self.accept_unique = true;
        self
    }

    /// A column with all its keys. To describe a column twice is refused when the request is used.
    #[must_use]
    pub fn column_request(mut self, name: impl Into<String>, column: ColumnRequest) -> Request {
        let name = name.into();
        let conflict = self.columns.get(&name).map(|_| Conflict::Columns).or(column.conflict);
        self.columns.insert(name, ColumnRequest { conflict, ..column });
        self
    }

    /// How the values of a column relate to each other.
    #[must_use]
    pub fn kind(self, name: impl Into<String>, kind: Kind) -> Request {
        self.with(name.into(), |column| column.kind = Some(kind))
    }

    /// How the numbers or dates of a column are written in a text file.
    #[must_use]
    pub fn format(self, name: impl Into<String>, form: Form) -> Request {
        self.with(name.into(), |column| column.format = Some(form))
    }

    /// The factor of the loss of a quasi-identifier.
    #[must_use]
    pub fn weight(self, name: impl Into<String>, weight: f64) -> Request {
        self.with(name.into(), |column| column.weight = Some(weight))
    }

    /// The values that may be published instead of a column's own.
    #[must_use]
    pub fn hierarchy(self, name: impl Into<String>, hierarchy: HierarchySpec) -> Request {
        self.with(name.into(), |column| column.hierarchy = Some(hierarchy))
    }

    /// The labels of an ordinal column, least first.
    #[must_use]
    pub fn order(
        self,
        name: impl Into<String>,
        labels: impl IntoIterator<Item: Into<String>>,
    ) -> Request {
        let labels = texts(labels);
        self.with(name.into(), |column| column.order = Some(labels))
    }

    /// The scheme of `optimal` for one column.
    #[must_use]
    pub fn scheme_of(self, name: impl Into<String>, scheme: impl Display) -> Request {
        self.with(name.into(), |column| column.scheme = Some(scheme.to_string()))
    }

    /// Publish a kept or sensitive column although it determines a quasi-identifier.
    #[must_use]
    pub fn accept_dependent(self, name: impl Into<String>) -> Request {
        self.with(name.into(), |column| column.dependent = true)
    }

    /// Why a column has its role: a text for the record of a release.
    #[must_use]
    pub fn reason(self, name: impl Into<String>, reason: impl Into<String>) -> Request {
        let reason = Some(reason.into());
        self.with(name.into(), |column| column.reason = reason)
    }

    /// A further k, on some of the quasi-identifiers.
    #[must_use]
    pub fn k_on(mut self, k: u64, columns: impl IntoIterator<Item: Into<String>>) -> Request {
        self.rules.push(SubsetRule { k, columns: texts(columns) });
        self
    }

    /// The share of rows that may be suppressed.
    #[must_use]
    pub fn suppress_up_to(mut self, share: impl Into<Share>) -> Request {
        self.limits.suppress = Some(share.into());
        self
    }

    /// The price of a suppressed row, from 0 to 1, as a share of the loss of a row that publishes
    /// nothing.
    #[must_use]
    pub fn suppression_price_of(mut self, price: impl Into<Share>) -> Request {
        self.limits.suppression_price = Some(price.into());
        self
    }

    /// The greatest loss of a release, from 0 to 1; a release with a greater loss is not written.
    #[must_use]
    pub fn loss_up_to(mut self, share: impl Into<Share>) -> Request {
        self.limits.max_loss = Some(share.into());
        self
    }

    /// Texts that mean "missing" beside the empty cell.
    #[must_use]
    pub fn missing(mut self, texts_of_missing: impl IntoIterator<Item: Into<String>>) -> Request {
        self.missing = texts(texts_of_missing);
        self
    }

    /// The columns that the release is made for: they set the weights of quasi-identifiers that have
    /// none of their own.
    #[must_use]
    pub fn purpose(mut self, columns: impl IntoIterator<Item: Into<String>>) -> Request {
        self.purpose = texts(columns);
        self
    }

    /// The column that says for how many rows each row stands.
    #[must_use]
    pub fn count(mut self, column: impl Into<String>) -> Request {
        self.count = Some(column.into());
        self
    }

    /// The algorithm: [`Algorithm`](crate::Algorithm), or its name.
    #[must_use]
    pub fn algorithm(mut self, algorithm: impl Display) -> Request {
        self.algorithm = Some(algorithm.to_string());
        self
    }

    /// The seed of all random choices, to repeat a run.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Request {
        self.seed = Some(seed);
        self
    }

    /// The time limit of the search.
    #[must_use]
    pub fn search_time(mut self, time: Duration) -> Request {
        self.limits.time = Some(time_text(time));
        self
    }

    /// Steps that `auto` takes to improve its release.
    #[must_use]
    pub fn search_steps(mut self, steps: u64) -> Request {
        self.steps = Some(steps);
        self
    }

    /// Rounds of the far-pair search, or tries of `cluster` for a cut.
    #[must_use]
    pub fn search_rounds(mut self, rounds: u32) -> Request {
        self.rounds = Some(rounds);
        self
    }

    /// The scheme of `optimal` for all columns without one of their own.
    #[must_use]
    pub fn scheme(mut self, scheme: impl Display) -> Request {
        self.scheme = Some(scheme.to_string());
        self
    }

    /// The cost that `optimal` and `incognito` minimize.
    #[must_use]
    pub fn cost(mut self, cost: impl Display) -> Request {
        self.cost = Some(cost.to_string());
        self
    }

    /// Ask for a release that is k-anonymous in the non-homogeneous sense only.
    #[must_use]
    pub fn non_homogeneous(mut self) -> Request {
        self.non_homogeneous = true;
        self
    }

    /// The source table; `-` is standard input.
    #[must_use]
    pub fn input(mut self, path: impl Into<PathBuf>) -> Request {
        self.input.path = Some(path.into());
        self
    }

    /// The CSV delimiter of the source.
    #[must_use]
    pub fn delimiter(mut self, delimiter: char) -> Request {
        self.input.delimiter = Some(delimiter);
        self
    }

    /// The encoding of the source, where it is CSV, such as `windows-1252`.
    #[must_use]
    pub fn encoding(mut self, name: impl Into<String>) -> Request {
        self.input.encoding = Some(name.into());
        self
    }

    /// The names of the columns of the source, where it is CSV without a header line.
    #[must_use]
    pub fn names(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Request {
        self.input.names = names.into_iter().map(Into::into).collect();
        self
    }

    /// The first line of the source is its header, although it looks like a row.
    #[must_use]
    pub fn header(mut self) -> Request {
        self.input.header = true;
        self
    }

    /// The sheet of the source, where it is a workbook.
    #[must_use]
    pub fn sheet(mut self, name: impl Into<String>) -> Request {
        self.input.sheet = Some(name.into());
        self
    }

    /// The sign before decimals in a source that is text.
    #[must_use]
    pub fn decimal(mut self, sign: char) -> Request {
        self.input.decimal = Some(sign);
        self
    }

    /// The sign between groups of three digits in a source that is text.
    #[must_use]
    pub fn thousands(mut self, sign: char) -> Request {
        self.input.thousands = Some(sign);
        self
    }

    /// How dates are written in a source that is text, where its cells do not tell.
    #[must_use]
    pub fn date_format(mut self, form: DateForm) -> Request {
        self.input.date_format = Some(form);
        self
    }

    /// How a text file is written.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Request {
        self.output.dialect = dialect;
        self
    }

    /// The target of the release; `-` is standard output.
    #[must_use]
    pub fn output(mut self, path: impl Into<PathBuf>) -> Request {
        self.output.path = Some(path.into());
        self
    }

    /// The form of ranges.
    #[must_use]
    pub fn publish(mut self, publish: Publish) -> Request {
        self.output.publish = publish;
        self
    }

    /// Publish the rows in the order of the source: anyone who knows that order can re-identify
    /// them.
    #[must_use]
    pub fn input_order(mut self) -> Request {
        self.output.order = Order::Input;
        self
    }

    /// Publish the interval of the hierarchy that covers a numeric range, not its exact ends.
    #[must_use]
    pub fn snap(mut self) -> Request {
        self.output.snap = true;
        self
    }

    /// Write text cells that a spreadsheet would run as a formula without the guarding apostrophe.
    #[must_use]
    pub fn raw_formulas(mut self) -> Request {
        self.output.raw_formulas = true;
        self
    }

    /// Write a codebook beside the release.
    #[must_use]
    pub fn codebook(mut self) -> Request {
        self.output.codebook = true;
        self
    }

    /// Gives columns a role. Keys that a column has already stay; a second role is a conflict.
    fn with_role(mut self, role: Role, names: impl IntoIterator<Item: Into<String>>) -> Request {
        for name in names {
            let new = || ColumnRequest::new(role);
            let column = self.columns.entry(name.into()).or_insert_with(new);
            if column.conflict == Some(Conflict::NoRole) {
                column.conflict = None;
            } else if column.role != role {
                column.conflict = Some(Conflict::Roles(column.role, role));
            }
            column.role = role;
        }
        self
    }

    /// Sets a key of a column, which may get its role later.
    fn with(mut self, name: String, set: impl FnOnce(&mut ColumnRequest)) -> Request {
        let conflict = Some(Conflict::NoRole);
        let new = || ColumnRequest { conflict, ..ColumnRequest::new(Role::Quasi) };
        set(self.columns.entry(name).or_insert_with(new));
        self
    }
}

fn texts(items: impl IntoIterator<Item: Into<String>>) -> Vec<String> {
    items.into_iter().map(Into::into).collect()
}

/// A time as [`Request::time`] reads it.
fn time_text(time: Duration) -> String {
    match time.subsec_nanos() {
        0 => format!("{}s", time.as_secs()),
        nanos if nanos % 1_000_000 == 0 => format!("{}ms", time.as_millis()),
        nanos => format!("{}.{nanos:09}s", time.as_secs()),
    }
}
