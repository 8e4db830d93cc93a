"""Runs a command in a network namespace of its own: `python -m tests.faults.lone_network SOCKET PORT -- command…`

The namespace has no network but itself. With a SOCKET (a path outside of it) one port of 127.0.0.1 leads to whoever
listens there; with `-` nothing does. Called under `unshare --map-root-user --net`.
"""

import errno
import shutil
import socket
import subprocess
import sys
import threading

OUTSIDE = ("127.0.0.1", 5432), ("127.0.0.1", 6379), ("10.0.0.1", 443)


def copy_bytes(source: socket.socket, target: socket.socket) -> None:
    """Passes bytes on until one side ends."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    finally:
        for side in (source, target):
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


def join_sockets(one: socket.socket, other: socket.socket) -> None:
    for pair in ((one, other), (other, one)):
        threading.Thread(target=copy_bytes, args=pair, daemon=True).start()


def serve_port(port: int, path: str) -> None:
    listener = socket.create_server(("127.0.0.1", port), backlog=64)

    def accept() -> None:
        while True:
            opened, _ = listener.accept()
            outside = socket.socket(socket.AF_UNIX)
            try:
                outside.connect(path)
            except OSError:
                opened.close()
                continue
            join_sockets(opened, outside)

    threading.Thread(target=accept, daemon=True).start()


def check_lone() -> None:
    """Ends the process where anything outside is to be reached."""
    for address in OUTSIDE:
        with socket.socket() as trial:
            trial.settimeout(2)
            if trial.connect_ex(address) not in (errno.ENETUNREACH, errno.ECONNREFUSED):
                sys.exit(f"{address} is to be reached: this is no network of its own.")


def main() -> int:
    path, port, _, *command = sys.argv[1:]
    subprocess.run([shutil.which("ip") or "/usr/sbin/ip", "link", "set", "lo", "up"], check=True)
    check_lone()
    if path != "-":
        serve_port(int(port), path)
    return subprocess.call(command)


if __name__ == "__main__":
    sys.exit(main())
