//! TLS connections: the certificates that they trust and present, and the cures of their failures.

use crate::address::{Address, Tls};
use crate::link::failed;
use millstream_tensor::{Code, Error, Result};
use redis::{Client, ClientTlsConfig, TlsCertificates};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;

/// A client that has read its files.
pub(crate) fn client(address: &Address, tls: &Tls) -> Result<Client> {
    if CryptoProvider::get_default().is_none() {
        // A program that has chosen another one meanwhile keeps it.
        let _ = ring::default_provider().install_default();
    }
    let root_cert = match &tls.ca {
        Some(path) => Some(certificates(address, "ca", path)?),
        None => None,
    };
    let client_tls = match &tls.own {
        Some((cert, key)) => {
            let client_cert = certificates(address, "cert", cert)?;
            Some(ClientTlsConfig { client_cert, client_key: private_key(address, key)? })
        }
        None => None,
    };
    Client::build_with_tls(address.connection(), TlsCertificates { client_tls, root_cert })
        .map_err(|error| failed(address, &error))
}

fn certificates(address: &Address, option: &str, path: &Path) -> Result<Vec<u8>> {
    let bytes = read(address, option, path)?;
    let mut found = CertificateDer::pem_slice_iter(&bytes).peekable();
    match found.peek().is_some() && found.all(|certificate| certificate.is_ok()) {
        true => Ok(bytes),
        false => Err(wrong(address, option, path, "holds no certificate in PEM form")),
    }
}

fn private_key(address: &Address, path: &Path) -> Result<Vec<u8>> {
    let bytes = read(address, "key", path)?;
    match PrivateKeyDer::from_pem_slice(&bytes) {
        Ok(_) => Ok(bytes),
        Err(_) => Err(wrong(address, "key", path, "holds no private key in PEM form that is not encrypted")),
    }
}

fn read(address: &Address, option: &str, path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| wrong(address, option, path, &format!("cannot be read: {e}")))
}

fn wrong(address: &Address, option: &str, path: &Path, why: &str) -> Error {
    let text =
        format!("the store {address} cannot be used: the file `{}` of `{option}` {why}", path.display());
    let help = "`ca` and `cert` are files of certificates that begin with -----BEGIN CERTIFICATE-----, and \
                `key` is one that begins with -----BEGIN PRIVATE KEY-----";
    Error::new(Code::InvalidArgument, text).with_help(help)
}

/// The code and the cure of a failure of TLS; `None` for other failures.
pub(crate) fn cure(error: &str) -> Option<(Code, &'static str)> {
    let cures = [
        (
            "UnknownIssuer",
            Code::Unavailable,
            "name the certificate of the authority that signed the server's: valkeys://..?ca=FILE",
        ),
        (
            "CaUsedAsEndEntity",
            Code::Unavailable,
            "give the server a certificate of its own, signed by the authority's",
        ),
        (
            "not valid for name",
            Code::Unavailable,
            "write a name of the server that its certificate has, or give it a certificate for this name",
        ),
        ("certificate expired", Code::Unavailable, "renew the server's certificate, or set the clock"),
        ("CertificateRequired", Code::PermissionDenied, OWN),
        ("UnknownCA", Code::PermissionDenied, OWN),
        ("InvalidContentType", Code::Unavailable, "write valkey:// if the server has no TLS at this port"),
        (
            "keys may not be consistent",
            Code::InvalidArgument,
            "name the key that belongs to the certificate: cert=FILE&key=FILE",
        ),
    ];
    cures.into_iter().find(|(words, ..)| error.contains(words)).map(|(_, code, help)| (code, help))
}

const OWN: &str =
    "the server asks for a certificate that its authority signed: valkeys://..?cert=FILE&key=FILE";
