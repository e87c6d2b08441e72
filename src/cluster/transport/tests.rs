use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;
use hyper::body::Bytes;
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
        .map_err(|error| crate::cluster::failure::Failure::of_transport(&error).to_string())
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
                lock(&noted).push((number, request.method().to_string()));
                match (number, request.method().as_str()) {
                    (0, "DELETE") => reply.send_reset(h2::Reason::REFUSED_STREAM),
                    _ => answer(reply),
                }
                if number == 0 && lock(&noted).len() == 2 {
                    server.graceful_shutdown();
                }
            }
        }
    })
    .await;
    assert_eq!(status(&client, "GET").await, Ok(StatusCode::OK));
    assert_eq!(status(&client, "DELETE").await, Ok(StatusCode::OK));
    assert_eq!(*lock(&seen), [(0, "GET"), (0, "DELETE"), (1, "DELETE")].map(|(n, method)| (n, method.to_owned())));
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

/// A server that never processes anything is not asked for ever.
#[tokio::test]
async fn refusals_have_an_end() {
    let (client, asked) = resetting(h2::Reason::REFUSED_STREAM).await;
    assert!(status(&client, "GET").await.is_err());
    assert_eq!(asked.load(Ordering::SeqCst), TRIES as usize);
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
