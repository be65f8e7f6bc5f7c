//! Bars as inline SVG: two to a bin, before and after, lying so that labels have room on a phone.
//! Short labels stand beside their bars; where one is long, all stand above them.

use std::fmt::Write;

use crate::plot::escape;

/// One bin.
#[derive(Debug)]
pub(super) struct Bar {
    pub(super) label: String,
    /// The share of the rows, and what is written beside the bar.
    pub(super) before: (f64, String),
    pub(super) after: (f64, String),
}

const WIDTH: f64 = 360.0;
const NUMBERS: f64 = 52.0;
const BAR: f64 = 9.0;
/// The room for labels beside the bars, and their most signs there.
const BESIDE: f64 = 128.0;
const SHORT: usize = 18;
/// The height of a label above its bars, and its most signs: longer ones are cut in the middle,
/// because labels of one column often begin alike.
const ABOVE: f64 = 14.0;
const LONG: usize = 48;

/// The picture; empty without bins.
pub(super) fn bars(title: &str, bins: &[Bar]) -> String {
    if bins.is_empty() {
        return String::new();
    }
    let is_long = bins.iter().any(|bin| width(&bin.label) > SHORT);
    let (left, above) = if is_long { (0.0, ABOVE) } else { (BESIDE, 0.0) };
    let pitch = 27.0 + above;
    #[allow(clippy::cast_precision_loss, reason = "few bins")]
    let height = bins.len() as f64 * pitch + 4.0;
    let most = bins.iter().flat_map(|bin| [bin.before.0, bin.after.0]).fold(0.0, f64::max);
    let length =
        |share: f64| if most > 0.0 { share / most * (WIDTH - left - NUMBERS) } else { 0.0 };
    let mut out = format!(
        r#"<svg class="bars" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{}">"#,
        escape(&format!("{title}; the numbers stand in the table below"))
    );
    for (at, bin) in bins.iter().enumerate() {
        #[allow(clippy::cast_precision_loss, reason = "few bins")]
        let top = at as f64 * pitch + above + 3.0;
        let (class, x, y) = match is_long {
            true => ("above", 0.0, top - 4.0),
            false => ("label", left - 6.0, top + BAR + 4.0),
        };
        let label = escape(&cut(&bin.label));
        let _ = write!(out, r#"<text class="{class}" x="{x:.0}" y="{y:.1}">{label}</text>"#);
        for (class, down, (share, text)) in
            [("before", 0.0, &bin.before), ("after", BAR + 2.0, &bin.after)]
        {
            let wide = length(*share).max(if *share > 0.0 { 1.0 } else { 0.0 });
            let _ = write!(
                out,
                r#"<rect class="{class}" x="{left}" y="{:.1}" width="{wide:.1}" height="{BAR}"/><text class="number" x="{:.1}" y="{:.1}">{}</text>"#,
                top + down,
                left + wide + 4.0,
                top + down + BAR - 1.5,
                escape(text)
            );
        }
    }
    out + "</svg>"
}

/// The label, without its middle where it is too long.
fn cut(label: &str) -> String {
    if width(label) <= LONG {
        return label.to_string();
    }
    let half = |signs: &mut dyn Iterator<Item = char>| {
        let mut room = LONG / 2;
        let fits = |sign: &char| {
            let is_room = signs_of(*sign) < room;
            room = room.saturating_sub(signs_of(*sign));
            is_room
        };
        signs.take_while(fits).collect::<Vec<char>>()
    };
    let begin = half(&mut label.chars());
    let end = half(&mut label.chars().rev());
    begin.into_iter().chain(['…']).chain(end.into_iter().rev()).collect()
}

/// The room of a text, in letters.
fn width(text: &str) -> usize {
    text.chars().map(signs_of).sum()
}

/// A Chinese or Japanese sign is as wide as two letters.
fn signs_of(sign: char) -> usize {
    if sign >= '\u{2e80}' { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_fills_the_room_and_labels_are_escaped() {
        let bin = |label: &str, before, after| Bar {
            label: label.to_string(),
            before: (before, "b".to_string()),
            after: (after, "a".to_string()),
        };
        let drawn = bars("t\"", &[bin("<b>", 0.5, 0.25), bin("a short label", 0.0, 0.001)]);
        assert_eq!(drawn.matches("<rect").count(), 4, "{drawn}");
        assert!(drawn.contains(r#"width="180.0""#) && drawn.contains(r#"width="90.0""#), "{drawn}");
        assert!(
            drawn.contains(r#"width="0.0""#) && drawn.contains(r#"width="1.0""#),
            "nothing is nothing, little is something"
        );
        assert!(
            drawn.contains("&lt;b&gt;")
                && drawn.contains("t&quot;")
                && drawn.contains(">a short label<"),
            "{drawn}"
        );
        assert_eq!(bars("t", &[]), "");
        // Long labels stand above, and those that begin alike stay apart.
        let kinds = ["occup /vocational", "academic program"];
        let long = kinds.map(|kind| bin(&format!("Associates degree-{kind}"), 0.5, 0.5));
        let drawn = bars("t", &long);
        for kind in kinds {
            assert!(drawn.contains(&format!(">Associates degree-{kind}<")), "{drawn}");
        }
        let ends = ["one", "two"].map(|end| cut(&format!("{}{end}", "long ".repeat(20))));
        assert!(ends[0] != ends[1] && ends.iter().all(|end| width(end) <= LONG), "{ends:?}");
        assert!(width(&cut(&"長".repeat(60))) <= LONG);
    }
}
