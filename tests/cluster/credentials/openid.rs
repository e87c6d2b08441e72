//! Tokens of an OpenID provider.

use std::{
    fs,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};

use super::{
    World, folder,
    provider::{CLIENT, SECRET},
    world,
};
use crate::harness::Ran;

/// The provider counts what is spent: one test at a time.
pub(super) fn alone() -> (MutexGuard<'static, ()>, &'static World) {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let world = world();
    let mut state = world.provider.state();
    (state.in_form, state.lifetime) = (false, 3600);
    drop(state);
    (alone, world)
}

/// A kubeconfig of a user whose ID token ends so many seconds from now, in YAML with a comment.
pub(super) fn write(world: &World, file: &Path, lifetime: i64, more: &[(&str, &str)]) -> (String, String) {
    let (admin, _) = super::admin(&world.cluster);
    let cluster = &admin["clusters"][0]["cluster"];
    let (id, refresh) = world.provider.log_in(lifetime);
    let more: String = more.iter().map(|(name, value)| format!("        {name}: {value}\n")).collect();
    let text = format!(
        "# mine\napiVersion: v1\nkind: Config\ncurrent-context: test\npreferences: {{}}\ncontexts:\n\
         - name: test\n  context: {{cluster: test, user: ann}}\nclusters:\n- name: test\n  cluster: {cluster}\nusers:\n\
         - name: other\n  user: {{password: '12e5', username: 'on'}}\n- name: ann\n  user:\n    auth-provider:\n      \
         name: oidc\n      config:\n        client-id: {CLIENT}\n        client-secret: {SECRET}\n        \
         id-token: {id}\n        idp-issuer-url: {}\n        refresh-token: {refresh}\n{more}",
        world.provider.issuer
    );
    fs::write(file, text).expect("a kubeconfig");
    (id, refresh)
}

pub(super) fn authority(world: &World, folder: &Path) -> String {
    let file = folder.join("authority.pem");
    fs::write(&file, world.authority.certificate()).expect("a certificate");
    file.to_str().expect("a path in UTF-8").to_owned()
}

/// The user's settings, as they are in the file.
fn settings(file: &Path) -> Value {
    let text = fs::read_to_string(file).expect("a kubeconfig");
    let document: Value = serde_yaml::from_str(&text).expect("YAML");
    let users = document["users"].as_array().cloned().unwrap_or_default();
    let ann = users.into_iter().find(|user| user["name"] == "ann").expect("the user");
    ann["user"]["auth-provider"]["config"].clone()
}

pub(super) fn spent(world: &World) -> usize {
    world.provider.state().spent
}

/// Neither an old nor a new token is in what is printed.
fn no_token_in(ran: &Ran, tokens: &[&str]) {
    for token in tokens.iter().chain(&[SECRET]) {
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(token), "{token} is in: {}", ran.stderr);
    }
}

#[test]
fn a_refreshed_token_is_saved_and_the_log_in_lasts() {
    let (_alone, world) = alone();
    let folder = folder();
    let ca = authority(world, folder.path());
    let file = folder.path().join("config");
    let (id, refresh) = write(world, &file, -60, &[("idp-certificate-authority", &ca)]);
    let spent_before = spent(world);
    for _ in 0..3 {
        let ran = world.cluster.gc_with(&file, &["tree", "namespaces", "--all"]);
        assert!(ran.expect(0).contains("default"), "{}", ran.stdout);
        assert_eq!(spent(world), spent_before + 1);
    }
    let now = settings(&file);
    let (new_id, new_refresh) = (now["id-token"].as_str().unwrap(), now["refresh-token"].as_str().unwrap());
    assert!(new_id != id && new_refresh != refresh);
}

/// The second file of two, behind a link; the authority as data; a provider that expects the client's name in the form.
/// kubectl credential: OpenID: the file that the user is in is written | same
#[test]
fn the_right_file_of_several_is_written() {
    use base64::Engine as _;
    let (_alone, world) = alone();
    world.provider.state().in_form = true;
    let folder = folder();
    let data = base64::engine::general_purpose::STANDARD.encode(world.authority.certificate());
    let file = folder.path().join("real");
    let (_, refresh) = write(world, &file, -60, &[("idp-certificate-authority-data", &data)]);
    let (first, link) = (folder.path().join("first"), folder.path().join("link"));
    fs::write(&first, "current-context: ''\nusers: [{name: bob, user: {token: t}}]\n").expect("a kubeconfig");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    let both = std::env::join_paths([&first, &link]).expect("paths");
    let first_before = fs::read(&first).expect("a file");
    let spent_before = spent(world);
    let ran = world.cluster.gc_with(Path::new(&both), &["tree", "namespaces", "--all"]);
    assert!(ran.expect(0).contains("default"), "{}", ran.stdout);
    assert_eq!(spent(world), spent_before + 1);
    assert_ne!(settings(&file)["refresh-token"], json!(refresh));
    assert_eq!(fs::read(&first).expect("a file"), first_before);
    assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
}

/// Refresh tokens are valid once: who comes second uses what the first has saved.
/// kubectl credential: OpenID: several processes at once | different: one refreshes, the others wait
#[test]
fn several_at_once_spend_one_refresh_token() {
    let (_alone, world) = alone();
    let folder = folder();
    let ca = authority(world, folder.path());
    let file = folder.path().join("config");
    write(world, &file, -60, &[("idp-certificate-authority", &ca)]);
    let spent_before = spent(world);
    std::thread::scope(|scope| {
        let run = || world.cluster.gc_with(&file, &["tree", "namespaces", "--all"]);
        let all: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        for one in all {
            one.join().expect("a run").expect(0);
        }
    });
    assert_eq!(spent(world), spent_before + 1);
}

#[test]
#[ignore = "long: slow"]
fn what_fails_says_why() {
    let (_alone, world) = alone();
    let folder = folder();
    let file = folder.path().join("config");
    let ca = authority(world, folder.path());
    let good = [("idp-certificate-authority", ca.as_str())];
    let fails = |word: &str, tokens: &[&str]| {
        let ran = world.cluster.gc_with(&file, &["tree", "namespaces", "--all"]).ended(1);
        for word in ["error: no credentials for", "user \"ann\"", "not renewed by kubectl", "log in again", word] {
            assert!(ran.stderr.contains(word), "{word:?} is not in: {}", ran.stderr);
        }
        no_token_in(&ran, tokens);
    };

    // The provider's authority isn't known.
    let (id, refresh) = write(world, &file, -60, &[]);
    fails("certificate signed by unknown authority", &[&id, &refresh]);

    // The session was ended.
    let (id, refresh) = write(world, &file, -60, &good);
    let text = fs::read_to_string(&file).expect("a kubeconfig").replace(&refresh, "refresh-unknown");
    fs::write(&file, text).expect("a kubeconfig");
    fails("failed to refresh token", &[&id, "refresh-unknown"]);

    // There is none.
    let text = fs::read_to_string(&file).expect("a kubeconfig").replace("refresh-unknown", "''");
    fs::write(&file, text).expect("a kubeconfig");
    fails("cannot refresh without refresh-token", &[&id]);
}

/// kubectl credential: OpenID: an expired token | same: kubectl is run once, which renews and saves it; without
///   kubectl, an error
#[test]
fn without_kubectl_it_says_what_to_do() {
    let (_alone, world) = alone();
    let folder = folder();
    let ca = authority(world, folder.path());
    let file = folder.path().join("config");
    write(world, &file, -60, &[("idp-certificate-authority", &ca)]);
    let spent_before = spent(world);
    let mut command = world.cluster.gc_command(&file);
    let ran = command.env("PATH", folder.path()).args(["tree", "namespaces", "--all"]).output().expect("a run");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(said.contains("not renewed by kubectl: it cannot be run: "), "{said}");
    assert!(said.contains("log in again"), "{said}");
    assert_eq!((ran.status.code(), spent(world)), (Some(1), spent_before));
}
