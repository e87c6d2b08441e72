//! Opens connections: directly or through a proxy, with TLS where the server's URL says so.

use std::{
    borrow::Cow,
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use http::{HeaderValue, Uri};
use hyper::rt;
use hyper_rustls::{
    FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream, builderstates::WantsProtocols1,
};
use hyper_timeout::TimeoutConnector;
use hyper_util::{
    client::legacy::connect::{
        Connected, Connection, HttpConnector,
        proxy::{SocksV5, Tunnel},
    },
    rt::TokioIo,
};
use kube::{
    Config,
    client::{ConfigExt as _, RustlsTlsError},
};
use percent_encoding::percent_decode_str;
use tokio::net::TcpStream;
use tower::{Service, ServiceExt as _, util::BoxCloneSyncService};

use super::{BoxError, basic};

/// client-go's `net.Dialer` has the same.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// A connection that is ready for a protocol of HTTP.
pub(super) type Io = <TimeoutConnector<HttpsConnector<Route>> as Service<Uri>>::Response;
/// Opens connections.
pub(super) type Connector = BoxCloneSyncService<Uri, Io, BoxError>;

/// A connector to the server of this configuration that speaks HTTP/1.1, and where `http2` is used, one with which the
/// server chooses the protocol.
pub(super) fn connectors(config: &Config, http2: bool) -> kube::Result<(Connector, Option<Connector>)> {
    // Made once for both: it may read all certificates of the system.
    let tls = for_tls(config).rustls_client_config()?;
    let with_tls = || HttpsConnectorBuilder::new().with_tls_config(tls.clone()).https_or_http();
    let http1 = connector(config, with_tls(), false)?;
    Ok((http1, http2.then(|| connector(config, with_tls(), true)).transpose()?))
}

/// If it `offers_http2`, the server chooses the protocol.
fn connector(
    config: &Config,
    builder: HttpsConnectorBuilder<WantsProtocols1>,
    offers_http2: bool,
) -> kube::Result<Connector> {
    let builder = match &config.tls_server_name {
        Some(name) => {
            let name = name.clone().try_into().map_err(RustlsTlsError::InvalidServerName);
            builder.with_server_name_resolver(FixedServerNameResolver::new(name.map_err(kube::Error::RustlsTls)?))
        }
        None => builder,
    };
    let route = route(config)?;
    let with_tls = match offers_http2 {
        true => builder.enable_http1().enable_http2().wrap_connector(route),
        false => builder.enable_http1().wrap_connector(route),
    };
    let mut connector = TimeoutConnector::new(with_tls);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    Ok(Connector::new(connector))
}

/// What TLS to the server needs of the configuration. Where nothing is verified, that is no certificate of the system:
/// to read them all would take longer than many a request.
fn for_tls(config: &Config) -> Cow<'_, Config> {
    let verifies = config.cluster_url.scheme_str() == Some("https") && !config.accept_invalid_certs;
    if verifies || config.root_cert.is_some() {
        return Cow::Borrowed(config);
    }
    let mut without = config.clone();
    without.root_cert = Some(Vec::new());
    Cow::Owned(without)
}

/// The way to the server: directly or through a proxy.
type Route = BoxCloneSyncService<Uri, Line, BoxError>;

fn route(config: &Config) -> kube::Result<Route> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(KEEP_ALIVE));
    let plain = |io| Line { io: MaybeHttpsStream::Http(io), forwards: false };
    let Some(proxy) = config.proxy_url.clone() else {
        return Ok(Route::new(tcp.map_response(plain).map_err(BoxError::from)));
    };
    match proxy.scheme_str() {
        Some("socks5") => Ok(Route::new(SocksV5::new(proxy, tcp).map_response(plain).map_err(BoxError::from))),
        // As in Go, TLS to a proxy is set up like TLS to the server.
        Some("http" | "https") => {
            let to_proxy = config.rustls_https_connector_with_connector(tcp)?;
            if forwards(config) {
                let line = to_proxy.map_response(|io| Line { io, forwards: true });
                return Ok(Route::new(line.map_request(move |_| proxy.clone())));
            }
            let authorization = proxy_authorization(&proxy);
            let tunnel = Tunnel::new(proxy, to_proxy);
            let tunnel = match authorization {
                Some(authorization) => tunnel.with_auth(authorization),
                None => tunnel,
            };
            Ok(Route::new(tunnel.map_response(|io| Line { io, forwards: false }).map_err(BoxError::from)))
        }
        _ => Err(kube::Error::ProxyProtocolUnsupported { proxy_url: Box::new(proxy) }),
    }
}

/// Whether a proxy forwards each request, instead of connecting us to the server.
fn forwards(config: &Config) -> bool {
    let is_http = config.proxy_url.as_ref().is_some_and(|proxy| matches!(proxy.scheme_str(), Some("http" | "https")));
    is_http && config.cluster_url.scheme_str() == Some("http")
}

/// The header with which a proxy forwards our requests, if it wants a name and a password.
pub(super) fn forwarding_authorization(config: &Config) -> Option<HeaderValue> {
    config.proxy_url.as_ref().filter(|_| forwards(config)).and_then(proxy_authorization)
}

/// The header for the name and the password in a proxy's URL.
fn proxy_authorization(proxy: &Uri) -> Option<HeaderValue> {
    let (user, _) = proxy.authority()?.as_str().rsplit_once('@')?;
    let decoded: Vec<u8> = percent_decode_str(user).collect();
    basic(decoded).ok()
}

/// A connection to the server or to a proxy.
pub(super) struct Line {
    io: MaybeHttpsStream<TokioIo<TcpStream>>,
    /// Whether requests name the whole URL, for a proxy that forwards them.
    forwards: bool,
}

impl Connection for Line {
    fn connected(&self) -> Connected {
        self.io.connected().proxy(self.forwards)
    }
}

impl rt::Read for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl rt::Write for Line {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_certificates_are_only_read_to_verify_a_server() {
        let reads = |server: &str, insecure: bool, own: Option<Vec<Vec<u8>>>| {
            let mut config = Config::new(server.parse().unwrap());
            (config.accept_invalid_certs, config.root_cert) = (insecure, own);
            for_tls(&config).root_cert.is_none()
        };
        assert!(reads("https://10.0.0.1", false, None));
        assert!(!reads("https://10.0.0.1", false, Some(vec![vec![1]])));
        assert!(!reads("https://10.0.0.1", true, None));
        assert!(!reads("http://10.0.0.1", false, None));
    }
}
