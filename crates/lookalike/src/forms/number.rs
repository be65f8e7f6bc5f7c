//! Numbers with a decimal comma, with separators of thousands, or with both.

use std::fmt;

use crate::error::{Error, Result};

/// How numbers are written: `1.234,5` has the decimal sign `,` and the separator `.` of thousands.
/// A blank as separator is any blank that does not break the line, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberForm {
    /// Before the decimals: a point or a comma.
    pub decimal: char,
    /// Between groups of three digits: a point, a comma, a blank or an apostrophe.
    pub thousands: Option<char>,
}

impl NumberForm {
    /// Decimal point, no separators: the plain form.
    pub const PLAIN: NumberForm = NumberForm { decimal: '.', thousands: None };

    /// Every form, the plain one first.
    pub(super) const ALL: [NumberForm; 8] = [
        NumberForm::PLAIN,
        NumberForm { decimal: ',', thousands: None },
        NumberForm { decimal: ',', thousands: Some('.') },
        NumberForm { decimal: '.', thousands: Some(',') },
        NumberForm { decimal: ',', thousands: Some(' ') },
        NumberForm { decimal: '.', thousands: Some(' ') },
        NumberForm { decimal: '.', thousands: Some('\'') },
        NumberForm { decimal: ',', thousands: Some('\'') },
    ];

    /// The plain text of a number in this form: digits, a sign and a point.
    pub(super) fn plain(self, cell: &str) -> Option<String> {
        let cell = cell.trim();
        let (sign, digits) = match cell.strip_prefix(['-', '+']) {
            Some(digits) => (&cell[..1], digits),
            None => ("", cell),
        };
        let (whole, decimals) = match digits.split_once(self.decimal) {
            Some((whole, decimals)) => (whole, Some(decimals)),
            None => (digits, None),
        };
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if decimals.is_some_and(|decimals| !is_digits(decimals)) {
            return None;
        }
        let mut plain = sign.to_owned();
        let groups: Vec<&str> = whole.split(|c| self.separates(c)).collect();
        match &groups[..] {
            [""] if decimals.is_some() => plain.push('0'),
            [one] if is_digits(one) => plain.push_str(one),
            [first, others @ ..] if !others.is_empty() => {
                let is_first = is_digits(first) && first.len() <= 3 && !first.starts_with('0');
                if !is_first || !others.iter().all(|group| is_digits(group) && group.len() == 3) {
                    return None;
                }
                groups.iter().for_each(|group| plain.push_str(group));
            }
            _ => return None,
        }
        if let Some(decimals) = decimals {
            plain.push('.');
            plain.push_str(decimals);
        }
        Some(plain)
    }

    fn separates(self, c: char) -> bool {
        match self.thousands {
            Some(' ') => matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}'),
            Some('\'') => matches!(c, '\'' | '’'),
            Some(separator) => c == separator,
            None => false,
        }
    }

    pub(super) fn local_label(self, label: &str) -> String {
        exchanged(label, '.', self.decimal)
    }

    pub(super) fn plain_label(self, label: &str) -> String {
        exchanged(label, self.decimal, '.')
    }
}

/// The label with another sign wherever one stands between two digits.
fn exchanged(label: &str, from: char, to: char) -> String {
    if from == to {
        return label.to_owned();
    }
    let bytes = label.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let sign = |(at, c): (usize, char)| {
        if c == from && at > 0 && is_digit(at - 1) && is_digit(at + 1) { to } else { c }
    };
    label.char_indices().map(sign).collect()
}

impl fmt::Display for NumberForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("1")?;
        if let Some(separator) = self.thousands {
            write!(f, "{separator}")?;
        }
        write!(f, "234{}5", self.decimal)
    }
}

impl std::str::FromStr for NumberForm {
    type Err = Error;

    fn from_str(text: &str) -> Result<NumberForm> {
        let known = NumberForm::ALL.into_iter().find(|form| form.to_string() == text);
        known.ok_or_else(|| {
            let all = NumberForm::ALL.map(|form| format!("`{form}`"));
            Error::request(
                "unknown-form",
                format!("`{text}` is no form of a number; there are {}", all.join(", ")),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_decimal_sign_and_groups_of_three() {
        for (form, cell, plain) in [
            ("1234,5", "170,5", Some("170.5")),
            ("1234,5", "-0,25", Some("-0.25")),
            ("1234,5", ",5", Some("0.5")),
            ("1234,5", " 12 ", Some("12")),
            ("1234,5", "007", Some("007")),
            ("1234,5", "1.234,5", None),
            ("1234,5", "5,", None),
            ("1234,5", "1,2,3", None),
            ("1234,5", "", None),
            ("1234,5", ",", None),
            ("1234,5", "1e3", None),
            ("1.234,5", "1.234,50", Some("1234.50")),
            ("1.234,5", "12.345.678", Some("12345678")),
            ("1.234,5", "1234,5", Some("1234.5")),
            ("1.234,5", "1.23,5", None),
            ("1.234,5", "0.234", None),
            ("1.234,5", "1.234.5", None),
            ("1,234.5", "1,234", Some("1234")),
            ("1,234.5", "+1,234.5", Some("+1234.5")),
            ("1 234,5", "1\u{202f}234,5", Some("1234.5")),
            ("1 234,5", "1 2345", None),
            ("1'234.5", "1’234.5", Some("1234.5")),
            ("1'234.5", "- 5", None),
        ] {
            let form: NumberForm = form.parse().unwrap();
            assert_eq!(form.plain(cell).as_deref(), plain, "{form} {cell}");
        }
    }
}
