//! Numbers for people: in tables, summaries, plots and claims.

/// A penalty: in whole numbers, or with decimals where these would hide it.
pub fn penalty(loss: f64) -> String {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a loss lies between 100 and rows times weights"
    )]
    match loss {
        100.0.. => count(loss.round() as u64),
        10.0.. => format!("{loss:.1}"),
        _ => decimal(loss),
    }
}

/// `30,162`
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 row`, `30,162 rows`
pub fn counted(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { more })
}

/// `12.5 %`; a share above 0 is never written as 0.
pub fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.000_5 {
        "<0.1 %".to_string()
    } else {
        format!("{:.1} %", share * 100.0)
    }
}

/// A number with at most four decimals, as few as needed.
pub fn decimal(number: f64) -> String {
    if !number.is_finite() {
        return "unbounded".to_string();
    }
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// `0.21 s`, `84 s`
pub fn seconds(seconds: f64) -> String {
    if seconds < 10.0 { format!("{seconds:.2} s") } else { format!("{seconds:.0} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(
            [count(0), count(999), count(1000), count(1_234_567)],
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [percent(0.0), percent(0.000_01), percent(0.125), percent(1.0)],
            ["0.0 %", "<0.1 %", "12.5 %", "100.0 %"]
        );
        assert_eq!(
            [decimal(0.5), decimal(3.0), decimal(1.0 / 3.0), decimal(f64::INFINITY)],
            ["0.5", "3", "0.3333", "unbounded"]
        );
        assert_eq!(
            [penalty(1_234.5), penalty(84.852_8), penalty(0.25), penalty(0.0)],
            ["1,235", "84.9", "0.25", "0"]
        );
        assert_eq!([seconds(0.214), seconds(84.2)], ["0.21 s", "84 s"]);
    }
}
