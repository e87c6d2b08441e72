use super::{gadget, world};

/// What kubectl tells of a request at each level is told, and no credential.
/// kubectl output: `-v 6` to `-v 9` | same: what 1.32 tells, when a request ends; no bodies of Secrets, no hex dumps
#[test]
fn requests_are_told_as_kubectl_tells_them() {
    let cluster = world();
    let namespace = cluster.namespace("told");
    cluster.create(gadget(&namespace, "a"));
    cluster.create(object!("v1 Secret", {
        "name": "hidden", "namespace": namespace,
        "stringData": {"password": "open-sesame"},
    }));
    let token = crate::credentials::admin(cluster).1;
    let url = format!("/apis/habits.test/v1/namespaces/{namespace}/gadgets");
    for (level, words) in [
        ("-v=6", &["GET https://127.0.0.1:", &url, "200 OK in ", " milliseconds"][..]),
        ("-v7", &["Request Headers:", "Accept: ", "User-Agent: ", "Response Status: 200 OK in "]),
        ("--v=8", &["Response Headers:", "Response Body", "[truncated "]),
        ("-v9", &["curl -v -X", "Response Body"]),
    ] {
        let theirs = cluster.kubectl(&["get", "gadgets", "-n", &namespace, level]);
        let ours = cluster.gc(&["tree", "-n", &namespace, level]);
        assert_eq!((theirs.code, ours.code), (Some(0), Some(0)), "{}\n{}", theirs.stderr, ours.stderr);
        // From 1.33 on, kubectl words it differently; some installations choose the kubectl of the server's version.
        let is_newer = theirs.stderr.contains("] \"Response\" ");
        for word in words {
            let is_theirs = theirs.stderr.contains(word) || *word == "[truncated " || is_newer;
            assert!(is_theirs, "{level} {word}: {}", theirs.stderr);
            assert!(ours.stderr.contains(word), "{level} {word}: {}", ours.stderr);
        }
        assert!(!ours.stderr.contains(&token) && !ours.stderr.contains("curl") | (level == "-v9"), "{level}");
    }
    let archive = cluster.folder().join(format!("{namespace}.yaml")).display().to_string();
    let ran = cluster.gc(&["delete", "secret/hidden", "-n", &namespace, "--yes", "--archive", &archive, "-v9"]);
    ran.expect(0);
    let ran = [ran.stderr, cluster.gc(&["restore", &archive, "--yes", "-v9"]).stderr].concat();
    for secret in ["open-sesame", "b3Blbi1zZXNhbWU", &token] {
        assert!(!ran.contains(secret), "{ran}");
    }
    assert!(ran.contains("Request Body: <masked>") && ran.contains("Response Body: <masked>"), "{ran}");
    assert!(ran.contains("Authorization: Bearer <masked>"));
    assert!(cluster.get(&format!("/api/v1/namespaces/{namespace}/secrets/hidden")).is_some());
}
