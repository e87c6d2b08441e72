//! The headers that every request to the API server has: who asks, in whose name, and with which program.

use std::convert::Infallible;

use base64::Engine as _;
use http::{HeaderMap, HeaderValue, Request, header};
use kube::{Config, client::ConfigExt as _, config::AuthInfo};
use secrecy::ExposeSecret as _;
use tower::{Layer as _, Service as _, service_fn};

/// The headers of every request, but for the credentials: the program, and whom to impersonate. kube's layer would add
/// them behind our back; [`crate::cluster::Exchange`] tells what was really sent.
///
/// # Errors
/// A setting that no header can have.
pub(super) fn of(mut config: Config, user_agent: Option<&str>) -> Result<HeaderMap, String> {
    let own = HeaderValue::try_from(user_agent.map_or_else(program, str::to_owned));
    let own = own.map_err(|_| "the User-Agent has characters that no HTTP header can have")?;
    config.headers.push((header::USER_AGENT, own));
    let layer = config.extra_headers_layer().map_err(|error| format!("the user to impersonate: {error}"))?;
    let taken = |request: Request<()>| std::future::ready(Ok::<_, Infallible>(request.into_parts().0.headers));
    let Ok(headers) = layer.layer(service_fn(taken)).call(Request::new(())).into_inner();
    Ok(headers)
}

/// The header for a token, or for a name and a password, if the settings have one. Takes them out of the settings. A
/// password counts only with a name, as in client-go's `Config.HasBasicAuth`.
pub(super) fn authorization(user: &mut AuthInfo) -> Result<Option<HeaderValue>, String> {
    let (name, password) = (user.username.take(), user.password.take());
    if let Some(token) = user.token.take() {
        return super::bearer(token.expose_secret()).map(Some);
    }
    let Some(name) = name else { return Ok(None) };
    let password = password.as_ref().map(|password| password.expose_secret()).unwrap_or_default();
    basic(format!("{name}:{password}")).map(Some)
}

/// The header for a `NAME:PASSWORD`.
pub(crate) fn basic(pair: impl AsRef<[u8]>) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::try_from(format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair)))
        .map_err(|_| "the password has characters that no HTTP header can have".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

/// This program, as kubectl names itself: `kubectl-gc/0.1.0 (linux/amd64)`.
pub fn program() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    };
    format!("kubectl-gc/{} ({system}/{architecture})", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn the_headers_say_who_asks() {
        let mut config = Config::new(http::Uri::from_static("https://h"));
        config.auth_info = AuthInfo {
            token: Some("secret".to_owned().into()),
            impersonate: Some("alice".to_owned()),
            impersonate_groups: Some(vec!["a".to_owned(), "b".to_owned()]),
            impersonate_user_extra: Some(HashMap::from([(
                "example.com/scopes é".to_owned(),
                vec!["1".to_owned(), "2".to_owned()],
            )])),
            ..AuthInfo::default()
        };
        let headers = of(config.clone(), None).unwrap();
        let all = |name: &str| headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect::<Vec<_>>();
        assert_eq!(all("impersonate-user"), ["alice"]);
        assert_eq!(all("impersonate-group"), ["a", "b"]);
        assert_eq!(all("impersonate-extra-example.com%2fscopes%20%c3%a9"), ["1", "2"]);
        assert!(all("user-agent")[0].starts_with("kubectl-gc/"));
        let bearer = authorization(&mut config.auth_info).unwrap().unwrap();
        assert!(bearer == "Bearer secret" && bearer.is_sensitive());
        assert!(authorization(&mut config.auth_info).unwrap().is_none(), "the settings have nothing left");
        config.auth_info.impersonate = Some("a\nb".to_owned());
        assert!(of(config, None).unwrap_err().starts_with("the user to impersonate"));
    }

    /// kubectl credential: a password without a name | same: none
    #[test]
    fn names_and_passwords_are_basic_authentication() {
        let mut user = AuthInfo {
            username: Some("Aladdin".to_owned()),
            password: Some("open sesame".to_owned().into()),
            ..AuthInfo::default()
        };
        assert_eq!(authorization(&mut user).unwrap().unwrap(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        let mut user = AuthInfo { password: Some("alone".to_owned().into()), ..AuthInfo::default() };
        assert_eq!(authorization(&mut user), Ok(None));
    }
}
