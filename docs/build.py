"""Builds the documentation site: `python3 docs/build.py` writes it to `target/site`.

The tools (MkDocs, its theme and mkdocstrings) are installed into `target/site-venv`, once. Millstream itself
need not be installed: the reference is read from the sources. A broken link, or any other warning, fails the
build. `--serve` shows the site in a browser and follows changes.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import venv

DOCS = pathlib.Path(__file__).resolve().parent
TARGET = DOCS.parent / "target"


def tools(folder):
    """Returns the Python of the environment of the tools, which is made if it is missing or outdated."""
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    wanted = (DOCS / "requirements.txt").read_text(encoding="utf-8")
    installed = folder / "requirements.txt"
    if not installed.exists() or installed.read_text(encoding="utf-8") != wanted:
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", DOCS / "requirements.txt"], check=True)
        installed.write_text(wanted, encoding="utf-8")
    return python


def main():
    """Builds or serves the site, and returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--serve", action="store_true", help="serve the site on this machine and follow changes")
    parser.add_argument("--out", type=pathlib.Path, default=TARGET / "site", help="the folder to write (default: target/site)")
    parser.add_argument("--tools", type=pathlib.Path, default=TARGET / "site-venv", help="the environment of the tools")
    options = parser.parse_args()
    os.environ["NO_MKDOCS_2_WARNING"] = "1"  # An advertisement of the theme's.
    command = [tools(options.tools.absolute()), "-m", "mkdocs"]
    config = ["--config-file", DOCS / "mkdocs.yml", "--strict"]
    if options.serve:
        return subprocess.run([*command, "serve", *config], cwd=DOCS.parent).returncode
    shutil.rmtree(options.out, ignore_errors=True)
    status = subprocess.run([*command, "build", *config, "--quiet", "--site-dir", options.out.absolute()], cwd=DOCS.parent).returncode
    if status == 0:
        print("open %s" % (options.out / "index.html"))
    return status


if __name__ == "__main__":
    sys.exit(main())
