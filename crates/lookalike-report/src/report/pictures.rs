//! Bars as inline SVG: two to a bin, before and after, lying so that long labels have room on a
//! phone.

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
const LABELS: f64 = 128.0;
const NUMBERS: f64 = 52.0;
const BAR: f64 = 9.0;
const PITCH: f64 = 27.0;
/// Longer labels are cut.
const SIGNS: usize = 18;

/// The picture; empty without bins.
pub(super) fn bars(title: &str, bins: &[Bar]) -> String {
    if bins.is_empty() {
        return String::new();
    }
    #[allow(clippy::cast_precision_loss, reason = "few bins")]
    let height = bins.len() as f64 * PITCH + 4.0;
    let most = bins.iter().flat_map(|bin| [bin.before.0, bin.after.0]).fold(0.0, f64::max);
    let length =
        |share: f64| if most > 0.0 { share / most * (WIDTH - LABELS - NUMBERS) } else { 0.0 };
    let mut out = format!(
        r#"<svg class="bars" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{}">"#,
        escape(&format!("{title}; the numbers stand in the table below"))
    );
    for (at, bin) in bins.iter().enumerate() {
        #[allow(clippy::cast_precision_loss, reason = "few bins")]
        let top = at as f64 * PITCH + 3.0;
        let _ = write!(
            out,
            r#"<text class="label" x="{:.0}" y="{:.1}">{}</text>"#,
            LABELS - 6.0,
            top + BAR + 4.0,
            escape(&cut(&bin.label))
        );
        for (class, down, (share, text)) in
            [("before", 0.0, &bin.before), ("after", BAR + 2.0, &bin.after)]
        {
            let wide = length(*share).max(if *share > 0.0 { 1.0 } else { 0.0 });
            let _ = write!(
                out,
                r#"<rect class="{class}" x="{LABELS}" y="{:.1}" width="{wide:.1}" height="{BAR}"/><text class="number" x="{:.1}" y="{:.1}">{}</text>"#,
                top + down,
                LABELS + wide + 4.0,
                top + down + BAR - 1.5,
                escape(text)
            );
        }
    }
    out + "</svg>"
}

fn cut(label: &str) -> String {
    if label.chars().count() <= SIGNS {
        label.to_string()
    } else {
        label.chars().take(SIGNS - 1).chain(['…']).collect()
    }
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
        let drawn =
            bars("t\"", &[bin("<b>", 0.5, 0.25), bin("a label that is much too long", 0.0, 0.001)]);
        assert_eq!(drawn.matches("<rect").count(), 4, "{drawn}");
        assert!(drawn.contains(r#"width="180.0""#) && drawn.contains(r#"width="90.0""#), "{drawn}");
        assert!(
            drawn.contains(r#"width="0.0""#) && drawn.contains(r#"width="1.0""#),
            "nothing is nothing, little is something"
        );
        assert!(
            drawn.contains("&lt;b&gt;")
                && drawn.contains("t&quot;")
                && drawn.contains("a label that is m…"),
            "{drawn}"
        );
        assert_eq!(bars("t", &[]), "");
    }
}
