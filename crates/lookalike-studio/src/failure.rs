//! What went wrong, as an answer: a status, a code, a sentence with the way out.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lookalike::{Error, ErrorKind};
use serde_json::{Value, json};

/// The answer to a call that cannot be done.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) column: Option<String>,
    pub(crate) row: Option<u64>,
}

pub(crate) type Answer<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Failure {
        Failure { status, code: code.into(), message: message.into(), column: None, row: None }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::BAD_REQUEST, "bad-call", message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::NOT_FOUND, "not-found", message)
    }

    pub(crate) fn json(&self) -> Value {
        let Failure { code, message, column, row, .. } = self;
        json!({ "code": code, "message": message, "column": column, "row": row })
    }

    /// For the command line, before there is a page.
    pub(crate) fn into_error(self) -> Error {
        Error::request("studio", self.message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let status = match error.kind() {
            ErrorKind::NotVerified => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Failure {
            status,
            code: error.code().to_string(),
            message: error.message(crate::words::hint),
            column: error.place().column.clone(),
            row: error.place().row,
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.json() }))).into_response()
    }
}
