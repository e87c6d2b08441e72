//! A token in a file, which others replace: that of a pod's service account, for example.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use http::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};

use crate::bounded;

/// How long a token is used before the file is read again (client-go's `fileTokenSource`, less its leeway).
const PERIOD: Duration = Duration::from_secs(50);

pub(super) struct TokenFile {
    path: PathBuf,
    last: Mutex<(HeaderValue, Instant)>,
}

impl TokenFile {
    /// Reads the file; `otherwise` is the token to use if that fails.
    pub(super) fn open(path: PathBuf, otherwise: Option<SecretString>) -> Result<Self, String> {
        let token = match (read(&path), otherwise) {
            (Err(_), Some(token)) => super::bearer(token.expose_secret())?,
            (read, _) => read?,
        };
        Ok(TokenFile { path, last: Mutex::new((token, Instant::now())) })
    }

    /// The current token. If the file can't be read any more, the last one: a program may remove the file once it runs.
    pub(super) fn token(&self) -> Result<HeaderValue, String> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.1.elapsed() >= PERIOD {
            if let Ok(token) = read(&self.path) {
                last.0 = token;
            }
            last.1 = Instant::now();
        }
        Ok(last.0.clone())
    }
}

fn read(path: &Path) -> Result<HeaderValue, String> {
    let failed = |reason: String| format!("token file {}: {reason}", path.display());
    let text = bounded::read_setting(path).map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8(text).map_err(|_| failed("not UTF-8".to_owned()))?;
    match text.trim() {
        "" => Err(failed("it is empty".to_owned())),
        token => super::bearer(token).map_err(failed),
    }
}
