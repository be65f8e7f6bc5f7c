//! Who may ask. A page of another site can make a browser send requests to 127.0.0.1, and a name of
//! another site can be made to point there; neither knows the token, and both are refused before.
//!
//! | check | against |
//! |---|---|
//! | `Host` is 127.0.0.1 or localhost with our port | names that point here (DNS rebinding) |
//! | `Sec-Fetch-Site` is same-origin or none, where a browser sends it | pages of other sites and ports |
//! | `Authorization` has the token, for everything but the files of the page | other programs and users |
//! | the headers below | scripts and frames that are not ours |
//!
//! There is no cookie: all ports of 127.0.0.1 would share it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use crate::state::App;

/// The policy of every answer.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: \
                      blob:; connect-src 'self'; frame-src 'self' blob:; base-uri 'none'; form-action \
                      'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

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
    let refused = refusal(&app, request.uri().path(), request.headers());
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

fn refusal(app: &App, path: &str, headers: &HeaderMap) -> Option<Failure> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let hosts = [format!("127.0.0.1:{}", app.port), format!("localhost:{}", app.port)];
    let is_host = text(header::HOST).is_some_and(|host| hosts.iter().any(|known| known == host));
    if !is_host {
        let why = "this server answers to 127.0.0.1 and localhost alone";
        return Some(Failure::new(StatusCode::FORBIDDEN, "other-host", why));
    }
    let site = text(HeaderName::from_static("sec-fetch-site"));
    if !matches!(site, None | Some("same-origin" | "none")) {
        let why = "this server answers its own page alone";
        return Some(Failure::new(StatusCode::FORBIDDEN, "other-site", why));
    }
    if !path.starts_with("/api/") {
        return None;
    }
    let given = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
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
