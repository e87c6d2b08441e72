//! Users, their kubeconfig files, and the API server's signing key for service account tokens.

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use k8s_openapi::ByteString;
use serde_json::json;

/// May do everything: a member of `system:masters`.
pub const ADMIN: &str = "admin";
/// May do nothing until [`let_viewer_see`](super::Cluster::let_viewer_see) grants read access to a namespace.
pub const VIEWER: &str = "viewer-of-one-namespace";
/// May do only what every authenticated user may: discovery, and reviews of their own rights.
pub const NOBODY: &str = "nobody";

/// A folder with the users' credentials.
pub struct Credentials {
    folder: PathBuf,
    tokens: Vec<(&'static str, String)>,
}

impl Credentials {
    /// Creates new tokens and a new key.
    pub fn create(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        let mut tokens = Vec::new();
        let mut file = String::new();
        for (user, groups) in [(ADMIN, "system:masters"), (VIEWER, "viewers"), (NOBODY, "nobodies")] {
            let token = hex(&random::<16>()?);
            let _ = writeln!(file, "{token},{user},{user},\"{groups}\"");
            tokens.push((user, token));
        }
        let credentials = Self { folder, tokens };
        fs::write(credentials.token_file(), file)?;
        fs::write(credentials.signing_key(), elliptic_curve_key(random()?))?;
        Ok(credentials)
    }

    /// For `--token-auth-file`.
    pub fn token_file(&self) -> PathBuf {
        self.folder.join("tokens.csv")
    }

    /// For `--service-account-signing-key-file`.
    pub fn signing_key(&self) -> PathBuf {
        self.folder.join("service-accounts.key")
    }

    /// The folder for the certificate that the API server creates for itself.
    pub fn certificates(&self) -> PathBuf {
        self.folder.join("certificates")
    }

    /// The server's certificate. The file ends with the certificate of the issuing authority, which clients trust.
    pub fn certificate(&self) -> PathBuf {
        self.certificates().join("apiserver.crt")
    }

    /// The certificate's key, which the server writes after the certificate.
    pub fn certificate_key(&self) -> PathBuf {
        self.certificates().join("apiserver.key")
    }

    /// A user's kubeconfig file, after [`write_kubeconfigs`](Self::write_kubeconfigs).
    pub fn kubeconfig(&self, user: &str) -> PathBuf {
        assert!(self.tokens.iter().any(|(name, _)| *name == user), "the test clusters have no user {user:?}");
        self.folder.join(format!("{user}.kubeconfig"))
    }

    /// Writes a kubeconfig file for every user.
    pub fn write_kubeconfigs(&self, server: &str) -> io::Result<()> {
        let cluster = json!({"server": server, "certificate-authority": self.certificate()});
        for (user, token) in &self.tokens {
            write_kubeconfig(&self.kubeconfig(user), &cluster, user, &json!({"token": token}))?;
        }
        Ok(())
    }
}

/// Writes a kubeconfig file with one context, `test`. JSON is YAML, too.
pub fn write_kubeconfig(
    path: &Path,
    cluster: &serde_json::Value,
    user: &str,
    secret: &serde_json::Value,
) -> io::Result<()> {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": user, "user": secret}],
    });
    fs::write(path, format!("{config:#}\n"))
}

/// A private key on the curve P-256 in the form of RFC 5915 (`ECPrivateKey` without the optional public key): any 32
/// bytes are one, so no cryptography is needed to make it.
fn elliptic_curve_key(secret: [u8; 32]) -> String {
    const BEFORE: [u8; 7] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20];
    const AFTER: [u8; 12] = [0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
    let der = [&BEFORE[..], &secret, &AFTER].concat();
    let base64 = json!(ByteString(der));
    format!("-----BEGIN EC PRIVATE KEY-----\n{}\n-----END EC PRIVATE KEY-----\n", base64.as_str().unwrap_or_default())
}

pub(super) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
