//! Why a client certificate can't be used.

use std::error::Error;

/// Describes an error of kube about certificates and keys, in the words of who has to replace them.
pub(super) fn explain(error: &kube::Error) -> String {
    let mut all = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        all = format!("{all}: {error}");
        next = error.source();
    }
    if all.contains("UnsupportedCertVersion") {
        // rustls reads only version 3; Go reads all.
        return "the client certificate is of X.509 version 1, which can't be used here: have it signed again as \
                version 3, with openssl x509 -req … -extfile FILE, where FILE has the line \
                extendedKeyUsage=clientAuth"
            .to_owned();
    }
    error.to_string()
}
