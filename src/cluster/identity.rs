//! Why a client certificate can't be used.

use std::error::Error;

/// Describes an error of kube about certificates and keys, in the words of who has to replace them.
pub(super) fn explain(error: &kube::Error) -> String {
    known(error).unwrap_or_else(|| error.to_string())
}

/// The same for errors that say nothing of what is in the certificate or the key; `None` for others.
pub(super) fn known(error: &kube::Error) -> Option<String> {
    let mut all = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        all = format!("{all}: {error}");
        next = error.source();
    }
    // rustls reads only version 3; Go reads all.
    all.contains("UnsupportedCertVersion").then(|| {
        "the client certificate is of X.509 version 1, which can't be used here: have it signed again as \
         version 3, with openssl x509 -req … -extfile FILE, where FILE has the line \
         extendedKeyUsage=clientAuth"
            .to_owned()
    })
}
