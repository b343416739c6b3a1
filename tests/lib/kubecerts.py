"""tests/lib/kubecerts.py - certificates made when a test runs.

    authority = Authority(folder)                           # folder/ca.crt, folder/ca.key
    pair = authority.sign("server", names="IP:127.0.0.1")   # pair.certificate, pair.key
    authority.sign("client", subject="/O=team/CN=jane", days=-1)    # one that has expired
"""
import dataclasses
import pathlib
import subprocess

KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


@dataclasses.dataclass
class Pair:
    certificate: pathlib.Path
    key: pathlib.Path


class Authority:
    def __init__(self, folder, name="ca"):
        folder.mkdir(exist_ok=True)
        self.folder, self.certificate, self.key = folder, folder / f"{name}.crt", folder / f"{name}.key"
        _openssl("req", "-x509", *KEY, "-keyout", self.key, "-out", self.certificate, "-days", "30",
                 "-subj", f"/CN={name}")

    def sign(self, name, subject=None, names=None, days=30):
        """A pair in files of that name. names: what it is valid for, as in a subjectAltName."""
        pair = Pair(self.folder / f"{name}.crt", self.folder / f"{name}.key")
        request, more = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        more.write_text(f"subjectAltName={names}\n" if names else "")
        _openssl("req", "-new", *KEY, "-keyout", pair.key, "-out", request,
                 "-subj", subject or f"/CN={name}")
        _openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key,
                 "-CAcreateserial", "-days", days, "-extfile", more, "-out", pair.certificate)
        return pair


def _openssl(*words):
    done = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"openssl {words[0]}: {done.stderr}"
