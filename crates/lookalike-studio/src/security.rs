//! Who may ask. A page of another site can make a browser send requests to 127.0.0.1, and a name of
//! another site can be made to point there; neither knows the token, and both are refused before.
//!
//! | check | against |
//! |---|---|
//! | `Host` (and the host of the address, where it has one) is 127.0.0.1 or localhost with our port | names that point here (DNS rebinding) |
//! | `Sec-Fetch-Site` is same-origin or none, `Origin` is ours, where a browser sends them | pages of other sites and ports |
//! | each of these headers comes once | a second one that another reader would believe |
//! | `Authorization` has the token, for everything but the files of the page | other programs and users |
//! | the headers below | scripts and frames that are not ours |
//!
//! There is no cookie: all ports of 127.0.0.1 would share it.
//!
//! One thing may come from elsewhere: a tab that is sent to the page itself (`/`, a plain GET), as by
//! the file that opens the browser. The page has no data and no token; everything else has both.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use crate::state::App;

/// The policy of every answer. The page makes no `blob:` and no `data:` address, so neither is allowed.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// 256 random bits as hexadecimal digits.
pub(crate) fn new_token() -> String {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).expect("the system gives random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Lets a request pass, or refuses it; every answer gets the headers.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let refused = refusal(&app, &request);
    let mut answer = match refused {
        Some(failure) => failure.into_response(),
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        // A report brings a policy of its own.
        answer.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    answer
}

fn refusal(app: &App, request: &Request) -> Option<Failure> {
    let refused = |code, why: &str| Some(Failure::new(StatusCode::FORBIDDEN, code, why));
    let headers = request.headers();
    let [fetch_site, fetch_mode, fetch_dest] =
        ["sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"].map(HeaderName::from_static);
    let once = [header::HOST, header::ORIGIN, header::AUTHORIZATION, fetch_site.clone()];
    if once.iter().any(|name| headers.get_all(name).iter().count() > 1) {
        return refused("header-twice", "a header that may come once came twice");
    }
    // A text that cannot be read is no known text.
    let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", app.port));
    let is_ours = |host: &str| hosts.iter().any(|known| known == host);
    let of_address = request.uri().authority().map(|authority| authority.as_str());
    if !text(&header::HOST).is_some_and(is_ours) || !of_address.is_none_or(is_ours) {
        return refused("other-host", "this server answers to 127.0.0.1 and localhost alone");
    }
    let path = request.uri().path();
    let is_tab = request.method() == Method::GET
        && path == "/"
        && text(&fetch_mode) == Some("navigate")
        && text(&fetch_dest) == Some("document");
    let is_known_site = matches!(text(&fetch_site), None | Some("same-origin" | "none")) || is_tab;
    let origin = text(&header::ORIGIN);
    if !is_known_site || !origin.is_none_or(|of| of.strip_prefix("http://").is_some_and(is_ours)) {
        return refused("other-site", "this server answers its own page alone");
    }
    if !path.starts_with("/api/") {
        return None;
    }
    let given = text(&header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    if !given.is_some_and(|given| is_same(given, &app.token)) {
        let why = "the token is missing or of an earlier start: open the address that `lookalike \
                   studio` has printed";
        return Some(Failure::new(StatusCode::UNAUTHORIZED, "no-token", why));
    }
    None
}

/// Compares by their hashes: how long that takes says nothing about the token.
fn is_same(one: &str, other: &str) -> bool {
    let hash = |text: &str| Sha256::digest(text.as_bytes());
    hash(one).iter().zip(hash(other)).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}
