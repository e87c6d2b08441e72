use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
};

use super::{gadget, world};

/// A server of manifests, and how often each path was asked for. It runs until the test process ends.
fn serve(manifest: String) -> (String, Arc<Mutex<BTreeMap<String, usize>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let server = format!("http://{}", listener.local_addr().expect("an address"));
    let asked: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
    let counts = Arc::clone(&asked);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let lines = BufReader::new(stream.try_clone().expect("a stream")).lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
            let times = {
                let mut counts = counts.lock().unwrap();
                let times = counts.entry(path.clone()).or_default();
                *times += 1;
                *times
            };
            let allowed = head.iter().any(|line| line.eq_ignore_ascii_case("authorization: basic bWU6cHc="));
            let (status, location) = match path.as_str() {
                "/a.yaml" => ("200 OK", ""),
                "/flaky" if times % 3 == 0 => ("200 OK", ""),
                "/flaky" | "/broken" => ("503 Service Unavailable", ""),
                "/moved" => ("302 Found", "a.yaml"),
                "/loop" => ("302 Found", "/loop"),
                "/mine" if allowed => ("200 OK", ""),
                "/mine" => ("401 Unauthorized", ""),
                _ => ("404 Not Found", ""),
            };
            let body = if status == "200 OK" { manifest.as_str() } else { "no" };
            let location = if location.is_empty() { String::new() } else { format!("Location: {location}\r\n") };
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\n{location}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
        }
    });
    (server, asked)
}

/// kubectl flag: `-f URL` | same: with a limit of 64 MB, and of five minutes a try
#[test]
#[ignore = "long: slow"]
fn manifests_are_fetched_as_kubectl_fetches_them() {
    let cluster = world();
    let namespace = cluster.namespace("urls");
    let object = gadget(&namespace, "a");
    cluster.create(&object);
    let (server, asked) = serve(format!("{object}\n"));
    let count = |path: &str| asked.lock().unwrap().remove(path).unwrap_or_default();
    for (path, found, times) in [
        ("/a.yaml", true, 1),
        ("/moved", true, 1),
        ("/flaky", true, 3),
        ("/broken", false, 3),
        ("/gone", false, 1),
        ("/mine", false, 1),
    ] {
        let url = format!("{server}{path}");
        let theirs = cluster.kubectl(&["get", "-f", &url, "-o", "name"]);
        assert_eq!((theirs.code == Some(0), count(path)), (found, times), "kubectl {path}: {}", theirs.stderr);
        let ours = cluster.gc(&["plan", "-f", &url, "-o", "name"]);
        assert_eq!((ours.code == Some(0), count(path)), (found, times), "{path}: {}", ours.stderr);
        assert_eq!(ours.stdout.contains("gadget.habits.test/a"), found, "{path}: {}", ours.stdout);
    }
    let with_password = server.replace("http://", "http://me:pw@");
    cluster.gc(&["plan", "-f", &format!("{with_password}/mine")]).expect(0);
    let ran = cluster.gc(&["plan", "-f", &format!("{with_password}/gone")]).ended(1);
    assert!(ran.stderr.contains("/gone") && ran.stderr.contains("404 Not Found"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("pw"), "{}", ran.stderr);
    let ran = cluster.gc(&["plan", "-f", &format!("{server}/loop")]);
    assert!(ran.code == Some(1) && ran.stderr.contains("stopped after 10 redirects"), "{}", ran.stderr);
    // A manifest that is deleted by its URL.
    cluster.gc(&["delete", "-f", &format!("{server}/a.yaml"), "--yes"]).expect(0);
    assert!(cluster.get(&cluster.path_of(&object)).is_none());
}
