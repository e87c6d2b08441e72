//! Credentials as client-go has them, on a real API server: plugins, certificates, and an OpenID provider.

mod authority;
mod beside_kubectl;
mod openid;
mod plugins;
mod provider;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use serde_json::{Value, json};

use self::{authority::Authority, provider::Provider};
use crate::harness::{ADMIN, Alone, Cluster, Options};

/// A cluster that accepts certificates of an authority, and tokens of a provider.
struct World {
    cluster: Alone,
    authority: Authority,
    provider: Provider,
}

fn world() -> &'static World {
    static WORLD: LazyLock<World> = LazyLock::new(|| {
        let authority = Authority::new();
        let provider = Provider::start(&authority);
        let folder = tempfile::tempdir().expect("a folder").keep();
        let file = folder.join("authority.pem");
        fs::write(&file, authority.certificate()).expect("a certificate in a file");
        let mut api_server = provider.flags();
        api_server
            .extend([format!("--client-ca-file={}", file.display()), format!("--oidc-ca-file={}", file.display())]);
        let cluster = Alone::start(&Options { api_server, ..Options::default() });
        // The API server has what is in these files.
        let _ = fs::remove_dir_all(folder);
        World { cluster, authority, provider }
    });
    &WORLD
}

/// The kubeconfig of the admin, and the admin's token.
pub fn admin(cluster: &Cluster) -> (Value, String) {
    let text = fs::read_to_string(cluster.kubeconfig(ADMIN)).expect("a kubeconfig");
    let kubeconfig: Value = serde_json::from_str(&text).expect("a kubeconfig in JSON");
    let token = kubeconfig["users"][0]["user"]["token"].as_str().expect("a token").to_owned();
    (kubeconfig, token)
}

/// Writes a kubeconfig for this user, and returns its path.
fn kubeconfig(cluster: &Cluster, folder: &Path, user: &Value) -> PathBuf {
    let (mut kubeconfig, _) = admin(cluster);
    kubeconfig["users"][0]["user"] = user.clone();
    let path = folder.join("config");
    fs::write(&path, format!("{kubeconfig:#}\n")).expect("a kubeconfig");
    path
}

/// A folder that goes with its test.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// rustls reads only X.509 version 3. Go reads version 1, too.
/// kubectl credential: a client certificate of X.509 version 1 | refused: rustls can't read it; says what to do
#[test]
fn a_certificate_of_version_1_is_refused_with_what_to_do() {
    let folder = folder();
    let (certificate, key) = authority::version_1();
    fs::write(folder.path().join("client.pem"), certificate).expect("a certificate");
    fs::write(folder.path().join("client-key.pem"), key).expect("a key");
    let cluster = crate::harness::shared();
    let user = json!({"client-certificate": "client.pem", "client-key": "client-key.pem"});
    let ran = cluster.gc_with(&kubeconfig(cluster, folder.path(), &user), &["tree"]).ended(1);
    for words in ["X.509 version 1", "version 3", "openssl x509"] {
        assert!(ran.stderr.contains(words), "{words:?} is not in: {}", ran.stderr);
    }
}
