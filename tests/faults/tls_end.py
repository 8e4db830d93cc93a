"""A TLS end before a web server, listening at a path: its certificate is signed by an authority of the test's own."""

import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.faults.lone_network import join_sockets


def make_authority(folder: Path) -> tuple[Path, Path]:
    """Certificate and key of 127.0.0.1 and localhost, signed by themselves: the certificate is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / "authority.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return certificate, secret


@contextmanager
def serve_tls(server: str, place: Path | tuple[str, int], folder: Path) -> Iterator[Path]:
    """Speaks TLS at a path or an address for the web server at `server`; gives the file of the authority."""
    certificate, key = make_authority(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.socket(socket.AF_UNIX if isinstance(place, Path) else socket.AF_INET)
    listener.bind(str(place) if isinstance(place, Path) else place)
    listener.listen(64)
    parts = urlsplit(server)

    def serve(opened: socket.socket) -> None:
        with suppress(OSError):
            spoken = context.wrap_socket(opened, server_side=True)
            join_sockets(spoken, socket.create_connection((str(parts.hostname), parts.port or 80)))

    def accept() -> None:
        with suppress(OSError):
            while True:
                opened, _ = listener.accept()
                threading.Thread(target=serve, args=(opened,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield certificate
    finally:
        listener.close()
