//! A real, small OpenID provider: discovery, keys, and an endpoint for refresh tokens that are valid once.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
};
use serde_json::{Value, json};

use super::authority::Authority;

pub(super) const CLIENT: &str = "kubectl gc";
pub(super) const SECRET: &str = "client secret/+";

/// How it answers, and what it was asked.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// Refresh tokens that are valid.
    valid: Vec<String>,
    issued: usize,
    /// How long ID tokens are valid, in seconds.
    pub lifetime: i64,
    /// Whether the client's name and password are expected in the form, and not in the header.
    pub in_form: bool,
    /// How many refresh tokens were spent.
    pub spent: usize,
}

pub(super) struct Provider {
    pub issuer: String,
    state: Arc<Mutex<State>>,
    key: Arc<EcdsaKeyPair>,
}

impl Provider {
    pub(super) fn start(authority: &Authority) -> Self {
        let (certificate, server_key) = authority.server();
        let rng = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &rng).expect("a key");
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &rng).expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions of TLS")
            .with_no_client_auth()
            .with_single_cert(
                vec![CertificateDer::from(certificate.der().to_vec())],
                PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(server_key.serialize_der())),
            )
            .expect("a certificate");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let issuer = format!("https://{}", listener.local_addr().expect("an address"));
        let state = State { valid: Vec::new(), issued: 0, lifetime: 3600, in_form: false, spent: 0 };
        let provider = Provider { issuer, state: Arc::new(Mutex::new(state)), key: Arc::new(key) };
        let config = Arc::new(config);
        let (issuer, state, key) = (provider.issuer.clone(), provider.state.clone(), provider.key.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, issuer, state, key) = (config.clone(), issuer.clone(), state.clone(), key.clone());
                thread::spawn(move || {
                    let connection = ServerConnection::new(config).ok()?;
                    let mut stream = BufReader::new(StreamOwned::new(connection, stream));
                    let request = read(&mut stream)?;
                    let (status, body) = answer(&request, &issuer, &state, &key);
                    let head = "Content-Type: application/json\r\nConnection: close";
                    let length = body.len();
                    let stream = stream.get_mut();
                    write!(stream, "HTTP/1.1 {status} X\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}").ok()?;
                    stream.conn.send_close_notify();
                    stream.flush().ok()
                });
            }
        });
        provider
    }

    /// What the API server has to know.
    pub(super) fn flags(&self) -> Vec<String> {
        [
            format!("--oidc-issuer-url={}", self.issuer),
            format!("--oidc-client-id={CLIENT}"),
            "--oidc-username-claim=sub".to_owned(),
            "--oidc-username-prefix=oidc:".to_owned(),
            "--oidc-groups-claim=groups".to_owned(),
            "--oidc-signing-algs=ES256".to_owned(),
        ]
        .to_vec()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An ID token that ends so many seconds from now, and a refresh token.
    pub(super) fn log_in(&self, lifetime: i64) -> (String, String) {
        let refresh = new_refresh_token(&mut self.state());
        (id_token(&self.issuer, &self.key, lifetime), refresh)
    }
}

fn new_refresh_token(state: &mut State) -> String {
    state.issued += 1;
    let token = format!("refresh-{}-of-a-session", state.issued);
    state.valid.push(token.clone());
    token
}

fn id_token(issuer: &str, key: &EcdsaKeyPair, lifetime: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs();
    let now = i64::try_from(now).expect("a time");
    let claims = json!({
        "iss": issuer, "aud": CLIENT, "sub": "ann", "groups": ["system:masters"],
        "iat": now - 3600, "exp": now + lifetime,
    });
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(&json!({"alg": "ES256", "kid": "test", "typ": "JWT"})), part(&claims));
    let signature = key.sign(&SystemRandom::new(), signed.as_bytes()).expect("a signature");
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
}

struct Request {
    line: String,
    authorization: String,
    form: Vec<(String, String)>,
}

fn read(stream: &mut impl std::io::BufRead) -> Option<Request> {
    let mut lines = stream.lines();
    let line = lines.next()?.ok()?;
    let (mut length, mut authorization) = (0, String::new());
    for header in lines {
        let header = header.ok()?;
        let Some((name, value)) = header.split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => authorization = value.to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    let pair = |pair: &str| pair.split_once('=').map(|(name, value)| (name.to_owned(), decoded(value)));
    Some(Request { line, authorization, form: body.split('&').filter_map(pair).collect() })
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

fn answer(request: &Request, issuer: &str, state: &Mutex<State>, key: &EcdsaKeyPair) -> (u16, String) {
    if request.line.starts_with("GET /.well-known/openid-configuration ") {
        let document = json!({
            "issuer": issuer, "jwks_uri": format!("{issuer}/keys"), "token_endpoint": format!("{issuer}/token"),
            "authorization_endpoint": format!("{issuer}/authorize"), "response_types_supported": ["code"],
            "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["ES256"],
        });
        return (200, document.to_string());
    }
    if request.line.starts_with("GET /keys ") {
        // The point of the curve, uncompressed: 4, x, y.
        let point = key.public_key().as_ref();
        let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
        let key = json!({
            "kty": "EC", "crv": "P-256", "kid": "test", "alg": "ES256", "use": "sig", "x": x, "y": y,
        });
        return (200, json!({"keys": [key]}).to_string());
    }
    if !request.line.starts_with("POST /token ") {
        return (404, "{}".to_owned());
    }
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let field = |name: &str| request.form.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let in_header = request.authorization.strip_prefix("Basic ").and_then(|pair| {
        let pair = base64::engine::general_purpose::STANDARD.decode(pair).ok()?;
        let pair = String::from_utf8(pair).ok()?;
        let (client, secret) = pair.split_once(':')?;
        Some((decoded(client), decoded(secret)))
    });
    let in_form =
        field("client_id").map(|client| (client.to_owned(), field("client_secret").unwrap_or_default().to_owned()));
    let client = if state.in_form { in_form } else { in_header };
    if client != Some((CLIENT.to_owned(), SECRET.to_owned())) {
        return (401, json!({"error": "invalid_client"}).to_string());
    }
    let refresh = field("refresh_token").unwrap_or_default();
    let Some(place) = state.valid.iter().position(|valid| valid == refresh) else {
        return (400, json!({"error": "invalid_grant", "error_description": "it was spent"}).to_string());
    };
    state.valid.remove(place);
    state.spent += 1;
    let next = new_refresh_token(&mut state);
    let id = id_token(issuer, key, state.lifetime);
    let document = json!({
        "access_token": "access", "token_type": "Bearer", "expires_in": 60, "id_token": id, "refresh_token": next,
    });
    (200, document.to_string())
}
