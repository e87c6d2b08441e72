//! Input without end, without a reader, or with an odd name: an error within its limit, or it is read.

use std::{
    fs,
    io::{Read, Write as _},
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::Path,
    process::{Command, Stdio},
};

use flate2::{Compression, write::GzEncoder};

use super::run::{Ran, finish, gc, program, with_input, write};

const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"x","uid":"u"}}"#;

/// The size of the bombs, unpacked, in bytes.
const BOMB: u64 = 64 << 20;

fn bomb() -> Vec<u8> {
    let mut to = GzEncoder::new(Vec::new(), Compression::fast());
    std::io::copy(&mut std::io::repeat(b' ').take(BOMB), &mut to).unwrap();
    to.finish().unwrap()
}

/// robustness input: `--from` of a gzip bomb, and of standard input without end | each | an error at the limit
#[test]
fn dumps_without_end_end_at_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let at_limit = |ran: Ran, name: &str| {
        let says = "there is more to read than --max-input allows, decompressed: raise it if there is memory for that";
        assert_eq!((ran.code, ran.err), (1, format!("error: {name}: {says}\n")));
    };
    let packed = folder.path().join("bomb.json.gz").display().to_string();
    fs::write(&packed, bomb()).unwrap();
    at_limit(gc(&["tree", "--from", &packed, "--max-input=1Mi"]), &packed);
    at_limit(with_input(&["tree", "--from=-", "--max-input=1Mi"], bomb()), "standard input");

    // The limit is for all files together.
    let two = [write(folder.path(), "a.json", POD), write(folder.path(), "b.json", &POD.replace("\"a\"", "\"b\""))];
    let from = |max: usize| gc(&["tree", "--from", &two[0], "--from", &two[1], &format!("--max-input={max}")]);
    assert_eq!(from(2 * POD.len()).err, "", "all of it fits");
    at_limit(from(2 * POD.len() - 1), &two[1]);

    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-gc"))
        .args(["tree", "--from=-", "--max-input=8Mi"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    while to.write_all(&[b' '; 65536]).is_ok() {}
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(err.starts_with("error: standard input: there is more to read than --max-input allows"), "{err}");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    for wrong in ["0", "1G", "-1"] {
        assert!(gc(&["tree", "--from=x", &format!("--max-input={wrong}")]).err.contains("Ki, Mi, Gi or Ti"));
    }
}

/// Files without end.
const DEVICES: [&str; 2] = ["/dev/full", "/dev/zero"];

/// robustness input: `--from` of a device, whose bytes are no text | {DEVICES} | an error at once
#[test]
fn what_is_no_text_is_not_read() {
    for device in DEVICES {
        let ran = gc(&["tree", "--from", device]);
        assert!(ran.code == 1 && ran.err.starts_with(&format!("error: {device}: no text: ")), "{ran:?}");
    }
}

/// robustness input: `--from` without end, where memory ends before the limit (`ulimit -v`) | blanks | an error
#[test]
fn memory_that_ends_is_an_error() {
    let program = env!("CARGO_BIN_EXE_kubectl-gc");
    let line = format!("tr '\\0' ' ' < /dev/zero | (ulimit -v 600000; exec {program} tree --from -)");
    let ran = finish(assert_cmd::Command::new("sh").args(["-c", &line]));
    assert!(ran.code == 1 && ran.err.starts_with("error: standard input: cannot be read: "), "{ran:?}");
}

/// robustness input: a kubeconfig, an authority, a `-f`, an audit log without end | each | an error at the limit
#[test]
fn other_files_without_end_end_at_their_limit() {
    let folder = tempfile::tempdir().unwrap();
    let pod = write(folder.path(), "pod.json", POD);
    for (args, says) in [
        (&["tree", "--kubeconfig=/dev/zero"][..], "kubeconfig /dev/zero: it is larger than 64Mi"),
        (
            &["tree", "--server=https://127.0.0.1:1", "--certificate-authority=/dev/zero", "--kubeconfig=/dev/null"],
            "certificate authority /dev/zero: it is larger than 64Mi",
        ),
        (&["tree", "-f", "/dev/zero", "--from", &pod], "-f /dev/zero: it is larger than 64Mi"),
        (
            &["doctor", "--evidence=/dev/zero", "--from", &pod],
            "--evidence /dev/zero: entry 1 is not one of an audit log",
        ),
    ] {
        let ran = gc(args);
        assert!(ran.code == 1 && ran.err.contains(says), "{args:?} {ran}");
    }
    let endless = Path::new(&pod).with_file_name("audit.log");
    fs::write(&endless, "{\"kind\":\"".to_owned() + &"x".repeat(65 << 20)).unwrap();
    let ran = gc(&["doctor", "--evidence", endless.to_str().unwrap(), "--from", &pod]);
    assert!(ran.code == 1 && ran.err.contains("it is too large for an entry"), "{ran}");
}

/// How deep the texts are.
const DEPTH: usize = 100_000;
/// What is repeated.
const DEEP: [&str; 6] = ["[", "{a: ", "[{a: ", "- ", "? ", "[#]\n"];

/// robustness input: YAML of {DEPTH} levels, in dumps and manifests | {DEEP} kinds of levels | an error
#[test]
fn deep_yaml_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let pod = write(folder.path(), "pod.json", POD);
    for levels in DEEP {
        let deep = write(folder.path(), "deep.yaml", &format!("a: \n  {}", levels.repeat(DEPTH)));
        for args in [&["tree", "--from", &deep][..], &["tree", "-f", &deep, "--from", &pod]] {
            let ran = gc(args);
            assert!(ran.code == 1 && ran.err.contains("deep.yaml"), "{levels:?} {args:?} {ran}");
        }
    }
}

/// robustness input: pipes that nobody writes to, for `restore` and `--archive` | each | an error at once
#[test]
fn nobody_waits_for_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.yaml").display().to_string();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let ran = gc(&["restore", &pipe]);
    assert!(ran.code == 1 && ran.err.contains("is not an archive: it is not a file"), "{ran}");
    let server = ["--server=http://127.0.0.1:1", "--kubeconfig=/dev/null"];
    let ran = gc(&[&["delete", "pod/a", "--archive", &pipe][..], &server].concat());
    assert!(ran.code == 1 && ran.err.contains("already exists"), "{ran}");
}

/// robustness input: a folder with links that lead nowhere, and a name that isn't UTF-8 | each | read, or an error
///   that names it
#[test]
fn odd_names_in_a_folder_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let path = root.display().to_string();
    let odd = root.join(std::ffi::OsStr::from_bytes(b"odd\xff.json"));
    fs::write(&odd, POD).unwrap();
    std::os::unix::fs::symlink(root.join("nothing"), root.join(".#lock")).unwrap();
    std::os::unix::fs::symlink(root.join("nothing"), root.join("README")).unwrap();
    assert!(gc(&["tree", "--from", &path, "-o", "name"]).fine().contains("pod/a"));
    assert!(gc(&["tree", "-f", &path, "--from", &path, "-o", "name"]).fine().contains("pod/a"));
    std::os::unix::fs::symlink(root.join("nothing"), root.join("b.json")).unwrap();
    let ran = gc(&["tree", "--from", &path]);
    assert!(ran.code == 1 && ran.err.contains("b.json: cannot be read"), "{ran}");
}

/// Go and Kubernetes have years until 9999.
const TIMES: [&str; 4] =
    ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00Z", "2016-12-31T23:59:60Z"];

/// robustness input: odd times that Kubernetes accepts | {TIMES} | read
#[test]
fn every_time_of_kubernetes_is_read() {
    for time in TIMES {
        for field in ["creationTimestamp", "deletionTimestamp"] {
            let pod = POD.replace("\"uid\"", &format!("{field:?}:{time:?},\"uid\""));
            for command in ["tree", "plan", "doctor"] {
                let ran = with_input(&[command, "--from=-", "--assume-complete"], pod.clone());
                assert!(ran.code != 1, "{time} {field} {command} {ran}");
            }
        }
    }
}

/// A server that answers everything with this.
fn server(answer: &'static str) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut stream = stream;
            let _ = stream.read(&mut [0; 4096]);
            let head = "HTTP/1.1 500 X\r\ncontent-type: application/json\r\nconnection: close\r\n";
            let _ = write!(stream, "{head}content-length: {}\r\n\r\n{answer}", answer.len());
        }
    });
    address
}

/// robustness input: line breaks in a server's message and in a kubeconfig's names | each | one line
#[test]
fn no_message_forges_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let forging = server("{\"kind\":\"Status\",\"message\":\"boom\\nDONE: as foretold\\u009b31m\\u202e\"}");
    let kubeconfig = write(
        folder.path(),
        "config",
        "{\"current-context\":\"a\\nDONE: x\",\"clusters\":[{\"name\":\"c\\nDONE: x\",\"cluster\":{\"server\":\
         \"http://127.0.0.1:1\"}}],\"contexts\":[{\"name\":\"a\\nDONE: x\",\"context\":{\"cluster\":\"c\\nDONE: \
         x\",\"user\":\"u\\nDONE: x\"}}],\"users\":[{\"name\":\"u\\nDONE: x\",\"user\":{\"token\":\"a\\nb\"}}]}",
    );
    for args in [
        &["tree", "--kubeconfig=/dev/null", "--server", &forging][..],
        &["tree", "--kubeconfig", &kubeconfig],
        &["tree", "--kubeconfig", &kubeconfig, "--token=x"],
        &["tree", "--kubeconfig", &kubeconfig, "--context=none"],
        &["tree", "--kubeconfig", &kubeconfig, "--user=none"],
        &["tree", "--kubeconfig", &kubeconfig, "--cluster=none"],
    ] {
        let ran = gc(args);
        let harmful = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(ran.code == 1 && ran.err.lines().count() == 1 && !ran.err.contains(harmful), "{args:?} {ran}");
    }
}

/// Connection flags with a password.
const WITH_PASSWORD: [&str; 6] = [
    "--server=ftp://u:PASSWORD@h",
    "--server=https://u:PASSWORD@",
    "--server=https://u:PASSWORD@127.0.0.1:1",
    "--server=u:PASSWORD@127.0.0.1:1",
    "--proxy-url=http://u:PASSWORD@127.0.0.1:1",
    "--proxy-url=ftp://u:PASSWORD@127.0.0.1:1",
];

/// robustness secret: passwords in the URLs of servers and proxies, at the highest verbosity | {WITH_PASSWORD} |
///   not printed
#[test]
fn no_password_of_a_url_is_printed() {
    for flag in WITH_PASSWORD {
        let server = if flag.starts_with("--proxy") { "--server=http://192.0.2.1:1" } else { flag };
        let ran = gc(&["tree", "--kubeconfig=/dev/null", flag, server, "-v=9", "--request-timeout=1s"]);
        assert!(ran.code == 1 && !ran.out.contains("PASSWORD") && !ran.err.contains("PASSWORD"), "{flag} {ran}");
    }
}

/// robustness secret: the path and password of a webhook's URL, in snapshots and output | each | left out
#[test]
fn snapshots_keep_no_secret_of_a_webhook() {
    let webhook = r#"{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",
        "metadata":{"name":"w","uid":"w"},"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":
        ["v1"],"clientConfig":{"url":"https://u:SECRET@hooks.example.org/SECRET?SECRET#SECRET"},"rules":[{"apiGroups":
        ["*"],"apiVersions":["*"],"operations":["DELETE"],"resources":["*"]}]}]}"#;
    let folder = tempfile::tempdir().unwrap();
    let from = write(folder.path(), "w.json", webhook);
    for args in [&["doctor", "-o", "json"][..], &["plan", "--all", "-o", "json"], &["doctor"]] {
        let ran = gc(&[args, &["--from", &from, "--assume-complete"]].concat());
        assert!(ran.code != 1 && !ran.out.contains("SECRET"), "{ran}");
    }
    let snapshot = gc_cluster::dump::read(&[from], true).unwrap();
    let mut text = Vec::new();
    gc_cluster::dump::write(&snapshot, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("https://hooks.example.org\"") && !text.contains("SECRET"), "{text}");
}

/// robustness input: a kubeconfig of {DEPTH} levels | {DEEP} kinds of levels, as the whole file and within a user
///   | an error that names the file
#[test]
fn a_deep_kubeconfig_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for levels in DEEP {
        let deep = levels.repeat(DEPTH);
        for text in [deep.clone(), format!("apiVersion: v1\nkind: Config\nusers:\n- name: u\n  user:\n    {deep}")] {
            let kubeconfig = write(folder.path(), "deep", &text);
            let ran = gc(&["tree", "--kubeconfig", &kubeconfig]);
            let lines = ran.err.lines().count();
            assert!(ran.code == 1 && ran.err.contains(&kubeconfig) && lines == 1, "{levels:?} {ran}");
        }
    }
}

/// Command lines of which one argument, marked `?`, isn't UTF-8.
const ODD_ARGUMENTS: [&str; 12] = [
    "?",
    "tree ?",
    "tree -n ?",
    "tree --namespace=?",
    "tree --?",
    "tree -o ?",
    "plan pod/?",
    "delete pod/? --yes",
    "doctor --selector=?",
    "explain ? -n x",
    "restore a.yaml --to-namespace=?",
    "help ?",
];

/// robustness input: arguments that aren't UTF-8 | {ODD_ARGUMENTS} command lines | an error, and nothing is done
#[test]
fn arguments_that_are_not_utf8_are_refused() {
    for line in ODD_ARGUMENTS {
        let args = line.split(' ').map(|word| {
            let bytes: Vec<u8> =
                word.bytes().flat_map(|byte| if byte == b'?' { vec![b'o', 0xff] } else { vec![byte] }).collect();
            std::ffi::OsString::from_vec(bytes)
        });
        let ran = finish(program().args(args).arg("--kubeconfig=/dev/null"));
        assert!(ran.code == 1 && ran.out.is_empty() && ran.err.starts_with("error: "), "{line} {ran}");
    }
}
