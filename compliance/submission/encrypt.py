"""Encrypting an archive with the `cryptography` library in the form of `openssl enc`, which the receivers use.

AES-256-CBC, key and IV from the passphrase by PBKDF2 (SHA-256), the file being "Salted__", the salt and the ciphertext.
What it came to is told by the archive's hash in its manifest: the form itself carries no seal.
"""

import os
import shlex
from pathlib import Path

from compliance.errors import ComplianceError

ITERATIONS = 600_000
"""PBKDF2 rounds; `openssl enc` must be told the same number."""
_MAGIC, _SALT_BYTES, _KEY_BYTES, _BLOCK_BYTES = b"Salted__", 8, 32, 16
_READ_BYTES = 1 << 20
_SHORTEST = 12
_LONGEST = 4096


class CannotEncrypt(ComplianceError):
    """No library for it, or no passphrase that is worth its name."""


def require_library() -> None:
    """Raises CannotEncrypt when the `cryptography` library is not installed."""
    try:
        import cryptography  # noqa: F401, PLC0415 - an extra: only who encrypts needs it
    except ImportError as error:
        raise CannotEncrypt(
            "encryption needs the `cryptography` library, which is not installed; "
            "install the extra `pack` (pip install 'weighbridge[pack]') or leave --encrypt out"
        ) from error


def passphrase(variable: str | None, file: Path | None) -> bytes:
    """The passphrase from an environment variable or a file's first line; never from the command line.

    Raises CannotEncrypt when neither or both are given, nothing stands there, or it is shorter than 12 characters.
    """
    if (variable is None) == (file is None):
        raise CannotEncrypt("give the passphrase by --passphrase-env NAME or by --passphrase-file PATH")
    if variable is not None:
        found, where = os.environ.get(variable, ""), f"the environment variable {variable}"
    else:
        found, where = _first_line(file), f"{file}"
    if len(found) < _SHORTEST:
        raise CannotEncrypt(f"{where} holds no passphrase of at least {_SHORTEST} characters; put one there")
    return found.encode()


def _first_line(file: Path | None) -> str:
    if file is None:
        return ""
    try:
        with file.open(encoding="utf-8") as stream:
            return stream.readline(_LONGEST).rstrip("\r\n")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise CannotEncrypt(f"{file}: cannot be read as the passphrase: {reason}; give another file") from error


def encrypt(source: Path, target: Path, secret: bytes) -> None:
    """Write `source` encrypted to `target`. Raises CannotEncrypt without the library, OSError."""
    require_library()
    from cryptography.hazmat.primitives import hashes, padding  # noqa: PLC0415
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415
    from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC  # noqa: PLC0415

    salt = os.urandom(_SALT_BYTES)
    length = _KEY_BYTES + _BLOCK_BYTES
    derived = PBKDF2HMAC(algorithm=hashes.SHA256(), length=length, salt=salt, iterations=ITERATIONS).derive(secret)
    encryptor = Cipher(algorithms.AES(derived[:_KEY_BYTES]), modes.CBC(derived[_KEY_BYTES:])).encryptor()
    padder = padding.PKCS7(_BLOCK_BYTES * 8).padder()
    with source.open("rb") as plain, target.open("wb") as stream:
        stream.write(_MAGIC + salt)
        while block := plain.read(_READ_BYTES):
            stream.write(encryptor.update(padder.update(block)))
        stream.write(encryptor.update(padder.finalize()) + encryptor.finalize())


def how_to_decrypt(name: str) -> str:
    """The command that turns an encrypted archive into the plain one."""
    # Never into the archive itself: openssl empties what it writes to before it reads.
    plain = name.removesuffix(".enc") if name.endswith(".enc") else f"decrypted-{name}"
    named, out = shlex.quote(name), shlex.quote(plain)
    return f"openssl enc -d -aes-256-cbc -md sha256 -pbkdf2 -iter {ITERATIONS} -in {named} -out {out}"
