"""Builds the wheel and the source archive (PEP 517), with the standard library only. The same sources give the same bytes."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import sys
import tarfile
import zipfile
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAME = PROJECT["name"].replace("-", "_")
STEM = f"{NAME}-{PROJECT['version']}"
LICENSE = ROOT.parent.parent / "LICENSE"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Called by pip, with its names of arguments."""
    files = {f"tollgate/{path.name}": path.read_bytes() for path in sources()}
    info = f"{STEM}.dist-info"
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: tollgate\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    # A source archive has the license beside this file.
    files[f"{info}/licenses/LICENSE"] = (LICENSE if LICENSE.exists() else ROOT / "LICENSE").read_bytes()
    lines = [f"{name},{digest(data)},{len(data)}" for name, data in files.items()]
    files[f"{info}/RECORD"] = ("\n".join([*lines, f"{info}/RECORD,,"]) + "\n").encode()
    name = f"{STEM}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """Called by pip, with its names of arguments."""
    paths = [ROOT / "pyproject.toml", ROOT / "README.md", ROOT / "wheel_backend.py", *sources()]
    files = {str(path.relative_to(ROOT)): path.read_bytes() for path in paths}
    files["LICENSE"] = (LICENSE if LICENSE.exists() else ROOT / "LICENSE").read_bytes()
    files["PKG-INFO"] = metadata().encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{STEM}/{path}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    name = f"{STEM}.tar.gz"
    (Path(sdist_directory) / name).write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return name


def sources():
    return sorted(path for path in (ROOT / "src/tollgate").iterdir() if path.suffix == ".py" or path.name == "py.typed")


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def metadata():
    fields = [
        ("Metadata-Version", "2.4"),
        ("Name", PROJECT["name"]),
        ("Version", PROJECT["version"]),
        ("Summary", PROJECT["description"]),
        ("License-Expression", PROJECT["license"]),
        ("License-File", "LICENSE"),
        ("Requires-Python", PROJECT["requires-python"]),
        *(("Classifier", each) for each in PROJECT["classifiers"]),
        *(("Requires-Dist", each) for each in PROJECT["dependencies"]),
        ("Description-Content-Type", "text/markdown"),
    ]
    head = "".join(f"{name}: {value}\n" for name, value in fields)
    return head + "\n" + (ROOT / PROJECT["readme"]).read_text()


if __name__ == "__main__":
    print(build_wheel(sys.argv[1]))
