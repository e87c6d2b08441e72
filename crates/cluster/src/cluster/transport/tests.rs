use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;
use hyper::body::Incoming;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
    },
    server::TlsStream,
};

use crate::cluster::error::Failure;

use super::*;

type Server = h2::server::Connection<TlsStream<TcpStream>, Bytes>;
type Reply = h2::server::SendResponse<Bytes>;

/// Accepts TLS connections with these protocols, and hands each over with its number. Returns the client.
async fn serve<F>(protocols: &[&str], talk: impl Fn(usize, TlsStream<TcpStream>) -> F + Send + 'static) -> Client
where
    F: Future<Output = ()> + Send + 'static,
{
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let mut config =
        ServerConfig::builder_with_provider(Arc::new(tokio_rustls::rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![CertificateDer::from(cert.der().to_vec())],
                PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der())),
            )
            .unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut number = 0;
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(stream) = acceptor.accept(stream).await {
                tokio::spawn(talk(number, stream));
                number += 1;
            }
        }
    });
    let mut config = Config::new(server.parse().unwrap());
    config.accept_invalid_certs = true;
    client(config).unwrap()
}

fn request(method: &str) -> Request<Body> {
    Request::builder().method(method).uri("/x").body(Body::from(b"{}".to_vec())).unwrap()
}

async fn status(client: &Client, method: &str) -> Result<StatusCode, String> {
    let sent = client.send(request(method)).await;
    sent.map(|response| response.status())
        .map_err(|error| crate::cluster::error::Failure::of_transport(&error).to_string())
}

async fn handshake(stream: TlsStream<TcpStream>) -> Server {
    h2::server::handshake(stream).await.unwrap()
}

fn answer(mut reply: Reply) {
    reply.send_response(http::Response::new(()), true).unwrap();
}

/// Answers everything.
async fn answer_all(mut server: Server) {
    while let Some(Ok((_, reply))) = server.accept().await {
        answer(reply);
    }
}

#[tokio::test]
async fn a_server_without_http2_gets_http1() {
    for protocols in [&["http/1.1"][..], &[]] {
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = connections.clone();
        let client = serve(protocols, move |_, stream| {
            counted.fetch_add(1, Ordering::SeqCst);
            let answer = hyper::service::service_fn(async |request: Request<Incoming>| {
                assert_eq!(request.version(), http::Version::HTTP_11);
                Ok::<_, std::convert::Infallible>(Response::new(http_body_util::Empty::<Bytes>::new()))
            });
            async move {
                let io = hyper_util::rt::TokioIo::new(stream);
                let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, answer).await;
            }
        });
        let client = client.await;
        for _ in 0..3 {
            assert_eq!(status(&client, "PATCH").await, Ok(StatusCode::OK));
        }
        assert_eq!(connections.load(Ordering::SeqCst), 1, "the connection on which the server chose HTTP/1.1 is used");
    }
}

/// GOAWAY names the last request that is processed: this one came later. Also a write is sent again.
#[tokio::test]
async fn a_request_that_the_server_has_not_processed_is_sent_again() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    let client = serve(&["h2", "http/1.1"], move |number, stream| {
        let noted = noted.clone();
        async move {
            let mut server = handshake(stream).await;
            while let Some(Ok((request, mut reply))) = server.accept().await {
                noted.lock().push((number, request.method().to_string()));
                match (number, request.method().as_str()) {
                    (0, "DELETE") => reply.send_reset(h2::Reason::REFUSED_STREAM),
                    _ => answer(reply),
                }
                if number == 0 && noted.lock().len() == 2 {
                    server.graceful_shutdown();
                }
            }
        }
    })
    .await;
    assert_eq!(status(&client, "GET").await, Ok(StatusCode::OK));
    assert_eq!(status(&client, "DELETE").await, Ok(StatusCode::OK));
    assert_eq!(*seen.lock(), [(0, "GET"), (0, "DELETE"), (1, "DELETE")].map(|(n, method)| (n, method.to_owned())));
}

/// A client of a server that resets every request for this reason, and how many it got.
async fn resetting(reason: h2::Reason) -> (Client, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let client = serve(&["h2"], move |_, stream| {
        let counted = counted.clone();
        async move {
            let mut server = handshake(stream).await;
            while let Some(Ok((_, mut reply))) = server.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                reply.send_reset(reason);
            }
        }
    })
    .await;
    (client, asked)
}

/// The server may have processed it: whoever sent it must decide.
#[tokio::test]
async fn a_request_that_may_have_been_processed_is_not_sent_again() {
    let (client, asked) = resetting(h2::Reason::INTERNAL_ERROR).await;
    assert!(status(&client, "DELETE").await.is_err());
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

/// A server that never processes anything is not asked for ever. What it refused each time was certainly not done.
///
/// robustness line: HTTP/2: a server that refuses each request without processing it (REFUSED_STREAM), also writes
///   | GET, DELETE, PATCH | the request is sent a few times; the error says that it wasn't processed
#[tokio::test]
async fn refusals_have_an_end() {
    for method in ["GET", "DELETE", "PATCH"] {
        let (client, asked) = resetting(h2::Reason::REFUSED_STREAM).await;
        let error = client.send(request(method)).await.unwrap_err();
        let why = "the server refuses the request each time, and has not processed it";
        assert_eq!(Failure::of_transport(&error), Failure::Unconnected(why.to_owned()), "{method}");
        assert_eq!(asked.load(Ordering::SeqCst), TRIES as usize, "{method}");
    }
}

/// A frame: its type, flags, stream and payload.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const ACK: u8 = 1;
/// The end of the headers and of the stream.
const ENDS: u8 = 5;
/// `:status: 200`, by its number in the static table.
const OK: [u8; 1] = [0x88];

/// Speaks HTTP/2 by hand: takes this many requests, then says that it goes on with all up to `last` only, answers those
/// after that, and closes the connection.
async fn go_away(mut stream: TlsStream<TcpStream>, requests: usize, last: u32) {
    let mut preface = [0; 24];
    stream.read_exact(&mut preface).await.unwrap();
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
    let mut streams = Vec::new();
    while streams.len() < requests {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.unwrap();
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
        let mut payload = vec![0; number(&head[..3]) as usize];
        stream.read_exact(&mut payload).await.unwrap();
        match head[3] {
            HEADERS => streams.push(number(&head[5..])),
            SETTINGS if head[4] & ACK == 0 => stream.write_all(&frame(SETTINGS, ACK, 0, &[])).await.unwrap(),
            PING if head[4] & ACK == 0 => stream.write_all(&frame(PING, ACK, 0, &payload)).await.unwrap(),
            _ => {}
        }
    }
    let payload = [last.to_be_bytes(), [0; 4]].concat();
    stream.write_all(&frame(GOAWAY, 0, 0, &payload)).await.unwrap();
    for number in streams.into_iter().filter(|number| *number <= last) {
        stream.write_all(&frame(HEADERS, ENDS, number, &OK)).await.unwrap();
    }
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
}

/// robustness line: HTTP/2: GOAWAY while several requests are under way, reads and writes, of which the server goes on
///   with none, some or most | each | the others are sent again, and each request is answered once
#[tokio::test]
async fn what_comes_after_the_last_stream_is_sent_again() {
    for method in ["GET", "DELETE", "PATCH", "POST"] {
        for goes_on in [0, 1, 3] {
            let again = Arc::new(AtomicUsize::new(0));
            let counted = again.clone();
            let client = serve(&["h2"], move |number, stream| {
                let counted = counted.clone();
                async move {
                    if number == 0 {
                        // Streams of a client have odd numbers.
                        return go_away(stream, 4, (2 * goes_on as u32).saturating_sub(1)).await;
                    }
                    let mut server = handshake(stream).await;
                    while let Some(Ok((_, reply))) = server.accept().await {
                        counted.fetch_add(1, Ordering::SeqCst);
                        answer(reply);
                    }
                }
            })
            .await;
            let all = futures::future::join_all((0..4).map(|_| status(&client, method))).await;
            assert!(all.iter().all(|status| *status == Ok(StatusCode::OK)), "{method} {goes_on}: {all:?}");
            assert_eq!(again.load(Ordering::SeqCst), 4 - goes_on, "{method}: {goes_on} were gone on with");
        }
    }
}

/// Many requests at once, before there is any connection, open only one.
#[tokio::test]
async fn all_wait_for_the_first_connection() {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    let client = serve(&["h2"], move |_, stream| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move { answer_all(handshake(stream).await).await }
    })
    .await;
    let all = futures::future::join_all((0..50).map(|_| status(&client, "GET"))).await;
    assert!(all.iter().all(|status| *status == Ok(StatusCode::OK)), "{all:?}");
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

/// How a TLS connection ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The network closes it: nobody says goodbye (`close_notify`).
    Closed,
    /// The network resets it.
    Reset,
}

/// Ends a connection without TLS's goodbye.
fn end(stream: TlsStream<TcpStream>, how: End) {
    let (tcp, _) = stream.into_inner();
    if let End::Reset = how {
        tcp.set_zero_linger().unwrap();
    }
}

/// robustness line: TLS that is closed without a goodbye, or reset, before, in and after an answer of which only the
///   goodbye tells the end | both versions of HTTP | no answer, and never half of one
#[tokio::test]
async fn tls_without_a_goodbye_is_no_end_of_an_answer() {
    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
    const BODY: &[u8] = br#"{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[]}"#;
    for how in [End::Closed, End::Reset] {
        for (protocol, parts) in [("http/1.1", 0), ("http/1.1", 1), ("http/1.1", 2), ("h2", 0), ("h2", 1), ("h2", 2)] {
            let client = serve(&[protocol], move |_, mut stream| async move {
                if protocol == "http/1.1" {
                    let mut asked = vec![0; 4096];
                    let _ = stream.read(&mut asked).await.unwrap();
                    let sent = [HEAD, &BODY[..20], &BODY[20..]][..(parts + usize::from(parts > 0))].concat();
                    stream.write_all(&sent).await.unwrap();
                    stream.flush().await.unwrap();
                } else {
                    let mut head = [0; 24];
                    stream.read_exact(&mut head).await.unwrap();
                    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
                    let payload = [frame(HEADERS, 4, 1, &OK), frame(0, 0, 1, BODY)][..parts].concat();
                    stream.write_all(&payload).await.unwrap();
                    stream.flush().await.unwrap();
                }
                end(stream, how);
            })
            .await;
            let answer = async {
                let response = client.send(request("GET")).await.map_err(|error| Failure::of_transport(&error))?;
                let read = http_body_util::BodyExt::collect(response.into_body()).await;
                read.map(|body| body.to_bytes()).map_err(|error| Failure::of_transport(&error))
            };
            let answer = answer.await;
            assert!(matches!(answer, Err(Failure::Interrupted(_))), "{how:?} {protocol} {parts}: {answer:?}");
        }
    }
}

/// All that wait for a connection that can't be opened are told why.
#[tokio::test]
async fn a_server_that_is_away_fails_all_that_wait() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = format!("https://{}", listener.local_addr().unwrap());
    drop(listener);
    let client = client(Config::new(server.parse().unwrap())).unwrap();
    let all = futures::future::join_all((0..20).map(|_| status(&client, "GET"))).await;
    let refused = Err("connection refused; is it running?".to_owned());
    assert!(all.iter().all(|status| *status == refused), "{all:?}");
}

/// Without TLS there is nothing to tunnel: the proxy gets the whole URL, and the password.
/// kubectl habit: a proxy, and a server without TLS | same: the proxy forwards each request
#[tokio::test]
async fn a_proxy_forwards_plain_requests() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = Config::new("http://api.example.com:8080/base".parse().unwrap());
    let proxy = format!("http://me:p%40ss@{}", listener.local_addr().unwrap());
    config.proxy_url = Some(proxy.parse().unwrap());
    let (tell, told) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"{}") {
            stream.read_buf(&mut head).await.unwrap();
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        tell.send(String::from_utf8(head).unwrap()).unwrap();
    });
    assert_eq!(status(&client(config).unwrap(), "PATCH").await, Ok(StatusCode::OK));
    let head = told.await.unwrap();
    assert!(head.starts_with("PATCH http://api.example.com:8080/base/x HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nproxy-authorization: Basic bWU6cEBzcw==\r\n"), "{head}");
    assert!(head.contains("\r\nhost: api.example.com:8080\r\n"), "{head}");
}

/// While connections end all the time, each request is answered or fails: none waits for what will not come.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "long: looks for what happens once in 90,000 requests"]
async fn no_request_waits_on_a_connection_that_has_ended() {
    let client = serve(&["h2"], move |number, stream| async move {
        let mut server = handshake(stream).await;
        let mut requests = 0;
        while let Some(Ok((_, reply))) = server.accept().await {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_micros(300)).await;
                answer(reply);
            });
            requests += 1;
            if requests == 5 + number % 40 {
                server.graceful_shutdown();
            }
        }
    })
    .await;
    for round in 0..3_000 {
        let requests = futures::future::join_all((0..60).map(|_| {
            let client = client.clone();
            tokio::spawn(async move { status(&client, "GET").await })
        }));
        let answered = tokio::time::timeout(Duration::from_secs(60), requests).await;
        assert!(answered.is_ok(), "round {round}: a request waits");
    }
}

mod settings {
    use super::super::*;

    fn of(variables: &[(&str, &str)]) -> Settings {
        Settings::of(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_environment_is_read_as_client_go_reads_it() {
        let seconds = Duration::from_secs;
        let usual = Settings { http2: true, read_idle: Some(seconds(30)), ping: seconds(15) };
        assert_eq!(of(&[]), usual);
        assert_eq!(of(&[("DISABLE_HTTP2", "")]), usual);
        // Any value: client-go looks only at its length.
        for value in ["1", "true", "false", "0"] {
            assert_eq!(of(&[("DISABLE_HTTP2", value)]), Settings { http2: false, ..usual });
        }
        let (read_idle, ping) = ("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "HTTP2_PING_TIMEOUT_SECONDS");
        let given = Settings { read_idle: Some(seconds(5)), ping: seconds(2), ..usual };
        assert_eq!(of(&[(read_idle, "5"), (ping, "2")]), given);
        assert_eq!(of(&[(read_idle, "soon"), (ping, "1.5")]), usual);
        assert_eq!(of(&[(read_idle, "0"), (ping, "0")]), Settings { read_idle: None, ..usual });
    }
}
