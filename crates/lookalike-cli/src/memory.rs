//! A limit for the memory of the program. A small file can unpack to a table of any size: the
//! program should end with a message and nothing left behind before the system kills it, or another
//! program.
//!
//! A thread reads the memory of this process some fifty times a second. Where the system does not
//! report it, there is no limit.

use std::fs::read_to_string;
use std::path::Path;
use std::thread;
use std::time::Duration;

use lookalike::Result;

use crate::request::usage;
use crate::{EXHAUSTED, interrupt};

/// The default limit, as a share of the machine's memory.
const USUAL: f64 = 0.8;

/// The pause between two measurements.
const PAUSE: Duration = Duration::from_millis(20);

/// From now on, ends the program when it needs more memory than this.
pub(crate) fn limit(wanted: Option<&str>) -> Result<()> {
    let page = page();
    let limit = match (wanted, page, machine()) {
        (None, Some(_), Some(machine)) => share(machine, USUAL),
        (None, ..) => return Ok(()),
        (Some(_), None, _) => {
            return Err(usage(
                "this system does not report the memory of a program: remove --max-memory",
            ));
        }
        (Some(text), Some(_), machine) => parse(text, machine)?,
    };
    let most = limit / page.unwrap_or(1).max(1);
    let watch = move || {
        while pages().is_none_or(|pages| pages <= most) {
            thread::sleep(PAUSE);
        }
        let why = format!(
            "error: the program needs more memory than the limit of {}; raise it with --max-memory, \
             drop columns or use fewer rows",
            text(limit)
        );
        interrupt::end(&why, EXHAUSTED)
    };
    // Without the thread there is no limit, which is no reason to stop.
    let _ = thread::Builder::new().name("memory".into()).spawn(watch);
    Ok(())
}

/// `500MB`, `2.5GB`, `4GiB`, or `50%` of the machine's.
fn parse(text: &str, machine: Option<u64>) -> Result<u64> {
    let bad = || {
        usage(format!(
            "--max-memory {text}: write a size such as 500MB or 8GB, or a share of the machine's \
             memory such as 50%"
        ))
    };
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().map_err(|_| bad())?;
    let unit: u64 = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "%" if number > 0.0 && number <= 100.0 => {
            let machine = machine.ok_or_else(|| {
                usage(
                    "this system does not report its memory: write a size, such as --max-memory 8GB",
                )
            })?;
            return Ok(share(machine, number / 100.0));
        }
        "kb" => 1_000,
        "mb" | "m" => 1_000_000,
        "gb" | "g" => 1_000_000_000,
        "tb" | "t" => 1_000_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return Err(bad()),
    };
    if number > 0.0 { Ok(share(unit, number)) } else { Err(bad()) }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "an approximate number of bytes"
)]
fn share(bytes: u64, part: f64) -> u64 {
    (bytes as f64 * part) as u64
}

/// A number of bytes for people.
#[allow(clippy::cast_precision_loss, reason = "for display")]
fn text(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{} MB", bytes.div_ceil(1_000_000)),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// The pages of memory of this process, from the shortest file that has them.
fn pages() -> Option<u64> {
    read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()
}

/// The bytes of a page, from two answers to one question.
fn page() -> Option<u64> {
    let bytes = kilobytes(&read_to_string("/proc/self/status").ok()?, "VmRSS:")?;
    // The second answer comes a moment later: a page has the nearest power of two.
    let page = bytes / pages().filter(|&pages| pages > 0)?;
    Some(if page.next_power_of_two() - page < page / 4 {
        page.next_power_of_two()
    } else {
        page.next_power_of_two() / 2
    })
}

/// The bytes of memory that the machine has, or that the group of processes may have to which this
/// one belongs.
fn machine() -> Option<u64> {
    let all = kilobytes(&read_to_string("/proc/meminfo").ok()?, "MemTotal:")?;
    let group = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = group.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    let of_group = Path::new("/sys/fs/cgroup").join(group).join("memory.max");
    let limits = [
        of_group.as_path(),
        Path::new("/sys/fs/cgroup/memory.max"),
        Path::new("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
    ];
    let limits =
        limits.iter().filter_map(|file| read_to_string(file).ok()?.trim().parse::<u64>().ok());
    Some(limits.fold(all, u64::min))
}

/// A line such as `MemTotal:  16318932 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_nonsense_is_refused() {
        for (text, bytes) in [
            ("500MB", 500_000_000),
            ("2.5GB", 2_500_000_000),
            ("4GiB", 4 << 30),
            ("50%", 500),
            ("1 gb", 1_000_000_000),
        ] {
            assert_eq!(parse(text, Some(1_000)).unwrap(), bytes, "{text}");
        }
        for text in ["", "5", "MB", "0MB", "-1GB", "120%", "5PB", "1.2.3GB"] {
            assert!(parse(text, Some(1_000)).is_err(), "{text}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_says_what_is_used_and_what_there_is() {
        let (page, used, machine) =
            (page().unwrap(), page().unwrap() * pages().unwrap(), machine().unwrap());
        assert!(page >= 4096 && page.is_power_of_two(), "{page}");
        assert!(used > 500_000 && used < machine, "{used} of {machine}");
    }
}
