//! How the proxy is reached: over plain HTTP, or over TLS. A connection that breaks ends without TLS's goodbye.

use std::{io, net::SocketAddr, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::Response;
use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};

use super::counted::AnyBody;

/// What connections to the proxy speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// HTTP/1.1, in the clear.
    Plain,
    /// HTTP/1.1 over TLS.
    Tls,
    /// HTTP/2 over TLS, as the API server speaks it: all requests share a connection.
    Http2,
}

impl Line {
    /// With a certificate, if it needs one.
    pub(super) fn ready(self) -> Ready {
        let protocol: &[u8] = match self {
            Self::Plain => return Ready { line: self, tls: None },
            Self::Tls => b"http/1.1",
            Self::Http2 => b"h2",
        };
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).expect("a certificate");
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions of TLS")
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .expect("a key of its certificate");
        config.alpn_protocols = vec![protocol.to_vec()];
        Ready { line: self, tls: Some((TlsAcceptor::from(Arc::new(config)), cert.pem())) }
    }
}

/// A line that can be used.
#[derive(Clone)]
pub(super) struct Ready {
    line: Line,
    /// And the certificate that clients trust.
    tls: Option<(TlsAcceptor, String)>,
}

impl Ready {
    /// The cluster of a kubeconfig that leads to this address.
    pub(super) fn cluster(&self, address: SocketAddr) -> Value {
        match &self.tls {
            None => json!({"server": format!("http://{address}")}),
            Some((_, pem)) => json!({
                "server": format!("https://{address}"),
                "certificate-authority-data": BASE64_STANDARD.encode(pem),
            }),
        }
    }

    /// Answers the requests of a connection until it ends.
    pub(super) async fn talk<F>(self, stream: TcpStream, answer: impl Fn(http::Request<Incoming>) -> F + Send + 'static)
    where
        F: Future<Output = io::Result<Response<AnyBody>>> + Send + 'static,
    {
        match self.tls {
            None => http_over(self.line, stream, answer).await,
            Some((acceptor, _)) => {
                if let Ok(stream) = acceptor.accept(stream).await {
                    http_over(self.line, stream, answer).await;
                }
            }
        }
    }
}

/// The client may close the connection, or a fault may break it: neither is an error.
async fn http_over<F>(
    line: Line,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    answer: impl Fn(http::Request<Incoming>) -> F + Send + 'static,
) where
    F: Future<Output = io::Result<Response<AnyBody>>> + Send + 'static,
{
    let stream = TokioIo::new(stream);
    let service = service_fn(answer);
    if line == Line::Http2 {
        let mut server = http2::Builder::new(TokioExecutor::new());
        let _ = server.timer(TokioTimer::new()).serve_connection(stream, service).await;
    } else {
        let _ = http1::Builder::new().timer(TokioTimer::new()).serve_connection(stream, service).await;
    }
}
