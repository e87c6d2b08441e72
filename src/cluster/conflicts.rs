//! Settings that contradict each other, refused as kubectl refuses them (client-go's `clientcmd/validation.go`, and
//! `transport.TLSConfigFor`).

use kube::config::{AuthInfo, Cluster};
use secrecy::{ExposeSecret as _, SecretString};

use super::error::ConnectError;

/// # Errors
/// The first contradiction of a cluster's and a user's settings, flags included.
pub(super) fn refuse(cluster: &Cluster, user: &AuthInfo) -> Result<(), ConnectError> {
    let refuse =
        |what: &str, reason: &str| Err(ConnectError::Setting { what: what.to_owned(), reason: reason.to_owned() });
    let has_authority = cluster.certificate_authority.is_some() || cluster.certificate_authority_data.is_some();
    if cluster.certificate_authority.is_some() && cluster.certificate_authority_data.is_some() {
        return refuse(
            "certificate-authority and certificate-authority-data",
            "both are specified for the cluster: remove one of them",
        );
    }
    // Without TLS, there is nothing to verify.
    let is_plain = cluster.server.as_deref().is_some_and(|server| server.starts_with("http://"));
    if has_authority && cluster.insecure_skip_tls_verify == Some(true) && !is_plain {
        return refuse(
            "insecure-skip-tls-verify and certificate-authority",
            "specifying a certificate authority with the insecure flag is not allowed: remove one of them",
        );
    }
    let said = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
    let kept = |text: &Option<SecretString>| text.as_ref().is_some_and(|text| !text.expose_secret().is_empty());
    if kept(&user.token) && (said(&user.username) || kept(&user.password)) {
        return refuse(
            "the user's credentials",
            "more than one authentication method found: token and basic authentication, and only one is allowed",
        );
    }
    let has_certificate = said(&user.client_certificate) || said(&user.client_certificate_data);
    if said(&user.client_certificate) && said(&user.client_certificate_data) {
        return refuse(
            "client-certificate and client-certificate-data",
            "both are specified for the user: remove one of them",
        );
    }
    if has_certificate && said(&user.client_key) && kept(&user.client_key_data) {
        return refuse("client-key and client-key-data", "both are specified for the user: remove one of them");
    }
    if has_certificate && !said(&user.client_key) && !kept(&user.client_key_data) {
        return refuse(
            "client-certificate",
            "client-key or client-key-data must be specified to use the client certificate",
        );
    }
    let extra = user.impersonate_user_extra.as_ref().is_some_and(|extra| !extra.is_empty());
    if user.impersonate.is_none() && (user.impersonate_uid.is_some() || user.impersonate_groups.is_some() || extra) {
        return refuse(
            "--as-uid, --as-group, --as-user-extra",
            "requesting uid, groups or user-extra without impersonating a user: give --as, too",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(settings: &str) -> String {
        let (cluster, user) = settings.split_once('|').unwrap();
        let settings = |text: &str| serde_json::from_str(&format!("{{{text}}}")).unwrap();
        let user: AuthInfo = serde_json::from_value(settings(user)).unwrap();
        let cluster: Cluster = serde_json::from_value(settings(cluster)).unwrap();
        refuse(&cluster, &user).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let cases = [
            (r#""certificate-authority": "a", "certificate-authority-data": "YQ=="|"#, "both are specified"),
            (r#""certificate-authority": "a", "insecure-skip-tls-verify": true|"#, "not allowed"),
            (r#"|"token": "t", "username": "u", "password": "p""#, "more than one authentication method"),
            (r#"|"token": "t", "password": "p""#, "more than one authentication method"),
            (r#"|"client-certificate": "c", "client-certificate-data": "YQ==", "client-key": "k""#, "both are"),
            (r#"|"client-certificate": "c", "client-key": "k", "client-key-data": "YQ==""#, "both are specified"),
            (r#"|"client-certificate": "c""#, "client-key or client-key-data"),
            (r#"|"as-groups": ["g"]"#, "without impersonating a user"),
            (r#"|"as-user-extra": {"a": ["b"]}"#, "without impersonating a user"),
        ];
        for (settings, why) in cases {
            assert!(refused(settings).contains(why), "{settings}: {}", refused(settings));
        }
        for fine in [
            "|",
            r#""certificate-authority": "a", "insecure-skip-tls-verify": false|"#,
            r#""server": "http://h", "certificate-authority": "a", "insecure-skip-tls-verify": true|"#,
            r#"|"token": "t", "client-certificate": "c", "client-key": "k""#,
            r#"|"username": "u", "password": "p""#,
            r#"|"as": "a", "as-groups": ["g"], "as-user-extra": {"a": ["b"]}"#,
        ] {
            assert_eq!(refused(fine), "", "{fine}");
        }
    }
}
