//! The file that opens the browser. The address has the token, and the words of a command line can be
//! read by every user of a computer: the browser gets the name of this file in place of it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use crate::security;

/// Writes a page that sends a browser to the address, into the folder for temporary files; only its owner
/// can read it. Whoever calls this removes it.
///
/// # Errors
/// When the file cannot be written.
pub fn opening_page(address: &str) -> std::io::Result<PathBuf> {
    let name = format!("lookalike-studio-{}.html", &security::new_token()[..16]);
    let path = std::env::temp_dir().join(name);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let page = format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n<title>lookalike studio</title>\n\
         <p><a href=\"{address}\">lookalike studio</a></p>\n"
    );
    options.open(&path)?.write_all(page.as_bytes())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_owner_reads_the_file_with_the_token() {
        let path = opening_page("http://127.0.0.1:1/#secret").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("url=http://127.0.0.1:1/#secret"), "{text}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        std::fs::remove_file(path).unwrap();
    }
}
