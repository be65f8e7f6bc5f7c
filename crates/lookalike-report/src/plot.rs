//! Plots as SVG: plain data in, one self-contained picture out. No scripts, no fonts or styles from
//! elsewhere; the same data, the same bytes.
//!
//! Series differ by colour (the palette of Okabe and Ito, which colour-blind people can
//! distinguish), by marker and by dashes.

use std::fmt::Write;

/// A plot as plain data.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Above the picture.
    pub title: String,
    /// From left to right.
    pub x_axis: Axis,
    /// From bottom to top.
    pub y_axis: Axis,
    /// The place in this list decides how a series looks: pictures that belong together list the
    /// same series, also those without points.
    pub series: Vec<Series>,
}

/// The x or y axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The quantity, with its unit.
    pub label: String,
    /// From values to lengths.
    pub scale: AxisScale,
    /// Where values are written; round ones are chosen when there are none.
    pub ticks: Vec<f64>,
}

/// How values become lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisScale {
    /// From the least value to the greatest.
    Linear,
    /// From 0 to the greatest value.
    FromZero,
    /// By logarithms: what is not above 0 is not drawn.
    Log,
}

/// Points that belong together.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Whether a line goes through them, in their order.
    pub is_joined: bool,
    /// In the order of the line.
    pub points: Vec<PlotPoint>,
}

/// A marker at `(x, y)`.
#[derive(Clone, Debug)]
pub struct PlotPoint {
    /// On the x axis.
    pub x: f64,
    /// On the y axis.
    pub y: f64,
    /// Written beside the marker where there is room; may be empty.
    pub label: String,
}

const WIDTH: f64 = 620.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 600.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 380.0;
const FONT: &str = r##"font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222""##;
/// About how wide a letter of the small texts is.
const LETTER: f64 = 7.0;
/// How far apart the lines of the legend are.
const LINE: f64 = 20.0;

const COLOURS: [&str; 7] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];
const DASHES: [&str; 5] = ["", "7 3", "2 3", "9 3 2 3", "5 2"];
/// This and the number of colours have no common divisor, so that a pair comes again only after all
/// others.
const MARKERS: u32 = 6;

/// Draws the plot.
///
/// # Example
/// ```
/// use lookalike_report::plot::{Axis, AxisScale, Plot, PlotPoint, Series, svg};
///
/// let axis = |label: &str| Axis { label: label.into(), scale: AxisScale::Linear, ticks: vec![] };
/// let points = vec![PlotPoint { x: 2.0, y: 0.1, label: String::new() }];
/// let series = vec![Series { name: "loss".into(), is_joined: true, points }];
/// let plot = Plot { title: "Loss by k".into(), x_axis: axis("k"), y_axis: axis("loss"), series };
/// assert!(svg(&plot).starts_with("<svg "));
/// ```
pub fn svg(plot: &Plot) -> String {
    let numbered =
        plot.series.iter().enumerate().map(|(at, series)| (at, series, drawable(plot, series)));
    let drawn: Vec<(usize, &Series, Vec<&PlotPoint>)> =
        numbered.filter(|(_, _, points)| !points.is_empty()).collect();
    let all = || drawn.iter().flat_map(|(_, _, points)| points.iter().copied());
    let x = Ruler::new(&plot.x_axis, all().map(|point| point.x), (LEFT, RIGHT));
    let y = Ruler::new(&plot.y_axis, all().map(|point| point.y), (BOTTOM, TOP));
    let longest = drawn.iter().map(|(_, series, _)| series.name.chars().count()).max().unwrap_or(0);
    let width = if drawn.is_empty() { WIDTH } else { WIDTH + 44.0 + length(longest) * LETTER };
    let height = HEIGHT.max(TOP + 20.0 + length(drawn.len()) * LINE);
    let mut out = String::new();
    let title = escape(&plot.title);
    let size =
        format!(r#"width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}""#);
    put(
        &mut out,
        format_args!(r#"<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {FONT}>"#),
    );
    put(&mut out, format_args!("<title>{title}</title>"));
    put(&mut out, format_args!(r##"<rect width="100%" height="100%" fill="#fff"/>"##));
    put(
        &mut out,
        format_args!(r#"<text x="{LEFT}" y="28" font-size="15" font-weight="bold">{title}</text>"#),
    );
    if drawn.is_empty() {
        let middle = (f64::midpoint(LEFT, RIGHT), f64::midpoint(TOP, BOTTOM));
        put(
            &mut out,
            format_args!(
                r#"<text x="{}" y="{}" text-anchor="middle">nothing to draw</text>"#,
                middle.0, middle.1
            ),
        );
    } else {
        axes(&mut out, plot, &x, &y);
        let mut taken: Vec<Area> =
            all().map(|point| Area::around(x.at(point.x), y.at(point.y), 5.0, 5.0)).collect();
        for (at, series, points) in &drawn {
            draw(&mut out, SeriesStyle::of(*at), series, points, (&x, &y));
        }
        for point in all() {
            label(&mut out, point, (&x, &y), &mut taken);
        }
        for (line, (at, series, _)) in drawn.iter().enumerate() {
            legend(&mut out, SeriesStyle::of(*at), series, TOP + 8.0 + length(line) * LINE);
        }
    }
    out.push_str("</svg>\n");
    out
}

/// The points that have a place on the axes.
fn drawable<'a>(plot: &Plot, series: &'a Series) -> Vec<&'a PlotPoint> {
    let has_place = |axis: &Axis, value: f64| {
        value.is_finite() && (axis.scale != AxisScale::Log || value > 0.0)
    };
    series
        .points
        .iter()
        .filter(|point| has_place(&plot.x_axis, point.x) && has_place(&plot.y_axis, point.y))
        .collect()
}

/// From values to places.
#[derive(Debug)]
struct Ruler {
    is_log: bool,
    from: f64,
    to: f64,
    ends: (f64, f64),
    ticks: Vec<f64>,
}

impl Ruler {
    /// Over these values and the ticks that were given, from one place to another.
    fn new(axis: &Axis, values: impl Iterator<Item = f64>, ends: (f64, f64)) -> Ruler {
        let is_log = axis.scale == AxisScale::Log;
        let first = if axis.scale == AxisScale::FromZero {
            (0.0, 0.0)
        } else {
            (f64::INFINITY, f64::NEG_INFINITY)
        };
        let (least, greatest) =
            values.fold(first, |(least, greatest), value| (least.min(value), greatest.max(value)));
        let (least, greatest) =
            if is_log { (least.log10(), greatest.log10()) } else { (least, greatest) };
        // One value, or equal ones, stand in the middle; others a little inside the frame.
        let spread = greatest - least;
        let room = if spread > 0.0 {
            0.06 * spread
        } else if is_log {
            0.4
        } else {
            (0.5 * greatest.abs()).max(0.5)
        };
        let from =
            if axis.scale == AxisScale::FromZero && least >= 0.0 { 0.0 } else { least - room };
        let to = greatest + room;
        let ticks = match (axis.ticks.is_empty(), is_log) {
            (false, _) => axis.ticks.clone(),
            (true, true) => log_ticks(from, to),
            (true, false) => round_ticks(from, to),
        };
        let mut ruler = Ruler { is_log, from, to, ends, ticks: Vec::new() };
        ruler.ticks = ticks.into_iter().filter(|&tick| ruler.has(tick)).collect();
        ruler
    }

    fn share(&self, value: f64) -> f64 {
        let value = if self.is_log { value.log10() } else { value };
        (value - self.from) / (self.to - self.from)
    }

    /// True when the value has a place, and not only because of a rounding error.
    fn has(&self, value: f64) -> bool {
        (-1e-9..=1.0 + 1e-9).contains(&self.share(value))
    }

    fn at(&self, value: f64) -> f64 {
        self.ends.0 + self.share(value) * (self.ends.1 - self.ends.0)
    }
}

/// Multiples of 1, 2 or 5 times a power of ten, about five of them.
fn round_ticks(from: f64, to: f64) -> Vec<f64> {
    let raw = (to - from) / 5.0;
    let power = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|times| times * power)
        .into_iter()
        .find(|step| *step >= raw * 0.999)
        .unwrap_or(raw);
    let first = (from / step).ceil();
    (0u32..12)
        .map(|number| (first + f64::from(number)) * step)
        .take_while(|tick| *tick <= to + step * 1e-9)
        .collect()
}

/// Powers of ten, and 2 and 5 times these where there are few.
fn log_ticks(from: f64, to: f64) -> Vec<f64> {
    let times: &[f64] = if to - from > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let every = ((to - from) / 8.0).ceil().max(1.0);
    let powers = (0u32..40)
        .map(|number| (from / every).floor() * every + f64::from(number) * every)
        .take_while(|power| *power <= to);
    powers.flat_map(|power| times.iter().map(move |times| times * 10_f64.powf(power))).collect()
}

fn axes(out: &mut String, plot: &Plot, x: &Ruler, y: &Ruler) {
    for &tick in &y.ticks {
        let (at, text) = (y.at(tick), number(tick));
        put(out, format_args!(r##"<path d="M{LEFT} {at:.1}H{RIGHT}" stroke="#ddd"/>"##));
        put(
            out,
            format_args!(
                r#"<text x="{:.1}" y="{:.1}" text-anchor="end">{text}</text>"#,
                LEFT - 8.0,
                at + 4.0
            ),
        );
    }
    let mut free = f64::NEG_INFINITY;
    for &tick in &x.ticks {
        let (at, text) = (x.at(tick), number(tick));
        let half = length(text.len()) * LETTER / 2.0;
        put(out, format_args!(r##"<path d="M{at:.1} {BOTTOM}v5" stroke="#222"/>"##));
        if at - half > free {
            put(
                out,
                format_args!(
                    r#"<text x="{at:.1}" y="{:.1}" text-anchor="middle">{text}</text>"#,
                    BOTTOM + 19.0
                ),
            );
            free = at + half + 4.0;
        }
    }
    put(
        out,
        format_args!(r##"<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="#222"/>"##),
    );
    let (across, down) = (f64::midpoint(LEFT, RIGHT), f64::midpoint(TOP, BOTTOM));
    let (x_label, y_label) = (escape(&plot.x_axis.label), escape(&plot.y_axis.label));
    put(
        out,
        format_args!(
            r#"<text x="{across:.1}" y="{:.1}" text-anchor="middle">{x_label}</text>"#,
            BOTTOM + 42.0
        ),
    );
    put(
        out,
        format_args!(
            r#"<text transform="translate(18 {down:.1}) rotate(-90)" text-anchor="middle">{y_label}</text>"#
        ),
    );
}

/// Colour, dashes and marker of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SeriesStyle {
    colour: &'static str,
    dash: &'static str,
    marker: u32,
}

impl SeriesStyle {
    #[allow(clippy::cast_possible_truncation, reason = "below the number of markers")]
    fn of(at: usize) -> SeriesStyle {
        let marker = (at % MARKERS as usize) as u32;
        SeriesStyle { colour: COLOURS[at % COLOURS.len()], dash: DASHES[at % DASHES.len()], marker }
    }

    /// The path of the marker around a point.
    fn marker(self, x: f64, y: f64) -> String {
        match self.marker {
            0 => format!("M{:.1} {y:.1}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", x - 4.0),
            1 => format!("M{:.1} {:.1}h7v7h-7z", x - 3.5, y - 3.5),
            2 => format!("M{x:.1} {:.1}l4.5 8h-9z", y - 5.0),
            3 => format!("M{x:.1} {:.1}l5 5l-5 5l-5 -5z", y - 5.0),
            4 => format!("M{x:.1} {:.1}l4.5 -8h-9z", y + 5.0),
            _ => format!("M{:.1} {:.1}l7 7m0 -7l-7 7", x - 3.5, y - 3.5),
        }
    }

    /// Closed markers are filled, crosses are strokes.
    fn fill(self) -> &'static str {
        if self.marker + 1 < MARKERS { self.colour } else { "none" }
    }
}

fn draw(
    out: &mut String,
    look: SeriesStyle,
    series: &Series,
    points: &[&PlotPoint],
    (x, y): (&Ruler, &Ruler),
) {
    let (colour, fill) = (look.colour, look.fill());
    put(out, format_args!(r#"<g stroke="{colour}" stroke-width="1.8" fill="none">"#));
    if series.is_joined && points.len() > 1 {
        let places: Vec<String> = points
            .iter()
            .map(|point| format!("{:.1} {:.1}", x.at(point.x), y.at(point.y)))
            .collect();
        put(out, format_args!(r#"<path d="M{}"{}/>"#, places.join("L"), dashes(look)));
    }
    for point in points {
        let what = [series.name.as_str(), &point.label]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(", ");
        let marker = look.marker(x.at(point.x), y.at(point.y));
        let (what, across, up) = (escape(&what), number(point.x), number(point.y));
        put(
            out,
            format_args!(
                r#"<path d="{marker}" fill="{fill}"><title>{what}: {across}, {up}</title></path>"#
            ),
        );
    }
    put(out, format_args!("</g>"));
}

fn dashes(look: SeriesStyle) -> String {
    if look.dash.is_empty() {
        String::new()
    } else {
        format!(r#" stroke-dasharray="{}""#, look.dash)
    }
}

fn legend(out: &mut String, look: SeriesStyle, series: &Series, y: f64) {
    let (colour, fill, left) = (look.colour, look.fill(), RIGHT + 16.0);
    put(out, format_args!(r#"<g stroke="{colour}" stroke-width="1.8" fill="none">"#));
    if series.is_joined {
        put(out, format_args!(r#"<path d="M{left:.1} {y:.1}h30"{}/>"#, dashes(look)));
    }
    put(out, format_args!(r#"<path d="{}" fill="{fill}"/></g>"#, look.marker(left + 15.0, y)));
    put(
        out,
        format_args!(
            r#"<text x="{:.1}" y="{:.1}">{}</text>"#,
            left + 38.0,
            y + 4.0,
            escape(&series.name)
        ),
    );
}

/// A rectangle of the picture that is taken.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn around(x: f64, y: f64, half_width: f64, half_height: f64) -> Area {
        Area {
            left: x - half_width,
            top: y - half_height,
            right: x + half_width,
            bottom: y + half_height,
        }
    }

    fn meets(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// Writes a point's label on the first side of the marker where nothing else is, and nowhere if
/// there is no such side.
fn label(out: &mut String, point: &PlotPoint, (x, y): (&Ruler, &Ruler), taken: &mut Vec<Area>) {
    let half = length(point.label.chars().count()) * LETTER * 0.45;
    let (at, up) = (x.at(point.x), y.at(point.y));
    let sides = [(at + half + 8.0, up), (at, up - 12.0), (at - half - 8.0, up), (at, up + 13.0)];
    let areas = sides.map(|(across, down)| (across, down, Area::around(across, down, half, 5.0)));
    let is_free = |area: &Area| {
        area.left > LEFT
            && area.right < RIGHT
            && area.bottom < BOTTOM
            && !taken.iter().any(|other| other.meets(area))
    };
    let Some((across, down, area)) =
        areas.into_iter().find(|(_, _, area)| !point.label.is_empty() && is_free(area))
    else {
        return;
    };
    let (text, down) = (escape(&point.label), down + 3.5);
    put(
        out,
        format_args!(
            r##"<text x="{across:.1}" y="{down:.1}" font-size="10" text-anchor="middle" fill="#555">{text}</text>"##
        ),
    );
    taken.push(area);
}

/// A value as people write it: `0.05`, `2,500`.
fn number(value: f64) -> String {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1,000 and 2^53"
    )]
    let whole = |value: f64| lookalike::numbers::count(value.round() as u64);
    match value.abs() {
        0.0 => "0".to_string(),
        size if !(1e-4..9e15).contains(&size) => format!("{value:e}"),
        size if size >= 1_000.0 => format!("{}{}", if value < 0.0 { "-" } else { "" }, whole(size)),
        _ => lookalike::numbers::decimal(value),
    }
}

#[allow(clippy::cast_precision_loss, reason = "a number of letters or lines")]
fn length(count: usize) -> f64 {
    count as f64
}

/// Text for XML: its signs escaped, what it cannot hold replaced.
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn put(out: &mut String, line: std::fmt::Arguments) {
    writeln!(out, "{line}").expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(label: &str, scale: AxisScale) -> Axis {
        Axis { label: label.into(), scale, ticks: Vec::new() }
    }

    fn series(name: &str, points: &[(f64, f64)]) -> Series {
        let points = points.iter().map(|&(x, y)| PlotPoint { x, y, label: "p".into() }).collect();
        Series { name: name.into(), is_joined: true, points }
    }

    fn plot(scale: AxisScale, series: Vec<Series>) -> Plot {
        Plot { title: "t".into(), x_axis: axis("x", scale), y_axis: axis("y", scale), series }
    }

    /// Every number of the picture is one.
    fn drawn(plot: &Plot) -> String {
        let text = svg(plot);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        assert!(text.starts_with("<svg xmlns=") && text.ends_with("</svg>\n"), "{text}");
        assert_eq!(text.matches("<g ").count(), text.matches("</g>").count());
        text
    }

    fn ruler(scale: AxisScale, values: &[f64]) -> Ruler {
        Ruler::new(&axis("a", scale), values.iter().copied(), (100.0, 200.0))
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn scales_take_values_to_places() {
        let linear = ruler(AxisScale::Linear, &[10.0, 20.0]);
        assert!(near(linear.at(15.0), 150.0) && linear.at(10.0) > 100.0 && linear.at(20.0) < 200.0);
        assert!(near(ruler(AxisScale::FromZero, &[10.0, 20.0]).at(0.0), 100.0));
        let log = ruler(AxisScale::Log, &[1.0, 100.0]);
        assert!(near(log.at(10.0), 150.0), "{log:?}");
        let below = ruler(AxisScale::FromZero, &[-5.0, 5.0]);
        assert!(near(below.at(0.0), 150.0) && below.at(-5.0) > 100.0, "{below:?}");
    }

    #[test]
    fn ticks_are_round_and_within() {
        let texts = |ruler: &Ruler| {
            ruler.ticks.iter().map(|&tick| number(tick)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            texts(&ruler(AxisScale::FromZero, &[0.0, 9_000.0])),
            "0 2,000 4,000 6,000 8,000"
        );
        assert_eq!(texts(&ruler(AxisScale::Linear, &[1.0, 1.4])), "1 1.1 1.2 1.3 1.4");
        assert_eq!(texts(&ruler(AxisScale::Log, &[0.02, 5.0])), "0.02 0.05 0.1 0.2 0.5 1 2 5");
        assert_eq!(
            texts(&ruler(AxisScale::Log, &[0.001, 1000.0])),
            "0.001 0.01 0.1 1 10 100 1,000"
        );
        for (least, greatest) in [(1e-12, 1e12), (0.3, 0.300_000_1), (1.0, 1e7)] {
            for scale in [AxisScale::Linear, AxisScale::FromZero, AxisScale::Log] {
                let ruler = ruler(scale, &[least, greatest]);
                assert!(
                    ruler.ticks.len() < 20 && ruler.ticks.iter().all(|&tick| ruler.has(tick)),
                    "{ruler:?}"
                );
            }
        }
        let given = Axis { ticks: vec![2.0, 5.0, 50.0], ..axis("k", AxisScale::Log) };
        assert_eq!(
            Ruler::new(&given, [2.0, 10.0].into_iter(), (0.0, 1.0)).ticks,
            [2.0, 5.0],
            "ticks outside are not drawn"
        );
    }

    #[test]
    fn one_point_and_equal_values_stand_in_the_middle() {
        for scale in [AxisScale::Linear, AxisScale::Log] {
            for points in [&[(3.0, 7.0)][..], &[(3.0, 7.0), (3.0, 7.0)]] {
                let text = drawn(&plot(scale, vec![series("a", points)]));
                let middle = format!(
                    "M{:.1} {:.1}a",
                    f64::midpoint(LEFT, RIGHT) - 4.0,
                    f64::midpoint(TOP, BOTTOM)
                );
                assert!(text.contains(&middle), "{middle}\n{text}");
            }
        }
        for value in [0.0, -4.0] {
            drawn(&plot(AxisScale::Linear, vec![series("a", &[(value, value)])]));
            drawn(&plot(AxisScale::FromZero, vec![series("a", &[(value, value)])]));
        }
    }

    #[test]
    fn without_points_the_picture_says_so() {
        for series in [
            vec![],
            vec![series("a", &[])],
            vec![series("a", &[(f64::NAN, 1.0), (1.0, f64::INFINITY), (0.0, 1.0)])],
        ] {
            let text = drawn(&plot(AxisScale::Log, series));
            assert!(text.contains("nothing to draw") && !text.contains("<path"), "{text}");
        }
    }

    #[test]
    fn what_has_no_place_is_left_out_and_looks_stay() {
        let both = plot(
            AxisScale::Log,
            vec![series("a", &[(0.0, 1.0)]), series("b", &[(1.0, 1.0), (2.0, 3.0), (-1.0, 1.0)])],
        );
        let text = drawn(&both);
        assert!(!text.contains(">a</text>") && text.contains(">b</text>"), "{text}");
        assert!(
            text.contains(COLOURS[1]) && !text.contains(COLOURS[0]),
            "the second series looks like the second"
        );
        assert_eq!(text.matches("<title>b, p: ").count(), 2);
        let looks: Vec<SeriesStyle> = (0..42).map(SeriesStyle::of).collect();
        let is_new = |(at, look): (usize, &SeriesStyle)| {
            !looks[..at]
                .iter()
                .any(|other| (other.colour, other.marker) == (look.colour, look.marker))
        };
        assert!(looks.iter().enumerate().all(is_new));
    }

    #[test]
    fn texts_are_escaped() {
        let mut odd = plot(AxisScale::Linear, vec![series("<b>&\u{1}", &[(1.0, 2.0)])]);
        odd.title = "\"T\" & 'u'".into();
        odd.x_axis.label = "a < b > c\n".into();
        let text = drawn(&odd);
        for part in [
            "&lt;b&gt;&amp;\u{fffd}",
            "&quot;T&quot; &amp; &apos;u&apos;",
            "a &lt; b &gt; c\u{fffd}<",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains("<b>"));
    }

    #[test]
    fn labels_give_way() {
        let crowd: Vec<(f64, f64)> = (0..200)
            .map(|at| (1.0 + f64::from(at % 20) / 1e3, 1.0 + f64::from(at / 20) / 1e3))
            .collect();
        let mut crowded =
            plot(AxisScale::Linear, vec![series("a", &crowd), series("b", &[(50.0, 50.0)])]);
        crowded.series.iter_mut().for_each(|series| series.is_joined = false);
        let labels = drawn(&crowded).matches(">p</text>").count();
        assert!((1..100).contains(&labels), "{labels}");
        assert_eq!(svg(&crowded), svg(&crowded));
    }
}
