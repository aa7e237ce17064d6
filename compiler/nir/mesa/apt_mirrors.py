# SPDX-License-Identifier: MIT
"""Print the Debian mirrors that this machine's apt is configured with.

One mirror a line: URI, a tab, the keyring that apt trusts for it (or "-"). The ones most likely to carry
the main archive come first. Both list formats are read: deb822 (*.sources) and one-line (*.list).
"""

import glob
import os
import re
import sys


def stanzas(text):
    """The deb822 stanzas of a file, each a dict of lower-case field name to value."""
    for block in re.split(r"\n\s*\n", text):
        fields, name = {}, None
        for line in block.splitlines():
            if line.startswith("#"):
                continue
            if line[:1] in (" ", "\t"):
                if name:
                    fields[name] += "\n" + line.strip()
            elif ":" in line:
                name, value = line.split(":", 1)
                name = name.strip().lower()
                fields[name] = value.strip()
        if fields:
            yield fields


def deb822(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    for s in stanzas(text):
        if s.get("enabled", "yes").lower() in ("no", "false", "0"):
            continue
        for uri in s.get("uris", "").split():
            yield uri, s.get("suites", ""), s.get("components", ""), s.get("signed-by", "")


ONE_LINE = re.compile(r"^deb(?:-src)?\s+(?:\[(?P<opts>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)(?P<comps>.*)$")


def one_line(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            m = ONE_LINE.match(line.split("#", 1)[0].strip())
            if m:
                key = re.search(r"signed-by=(\S+)", m["opts"] or "")
                yield m["uri"], m["suite"], m["comps"], key[1] if key else ""


def entries(root):
    for path in sorted(glob.glob(os.path.join(root, "sources.list.d", "*.sources"))):
        yield from deb822(path)
    for path in [os.path.join(root, "sources.list")] + sorted(
        glob.glob(os.path.join(root, "sources.list.d", "*.list"))
    ):
        if os.path.exists(path):
            yield from one_line(path)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "/etc/apt"
    found = {}
    for uri, suites, comps, key in entries(root):
        if "main" not in comps.split() or not re.match(r"(https?|mirror|file):", uri):
            continue
        last = uri.rstrip("/").rsplit("/", 1)[-1]
        # The main archive is by convention .../debian; a security mirror holds few source packages.
        rank = 0 if last == "debian" else 2 if "security" in uri or "security" in suites else 1
        key = key if key.startswith("/") and "\n" not in key else "-"
        if uri not in found or rank < found[uri][0]:
            found[uri] = (rank, key)
    for uri, (_, key) in sorted(found.items(), key=lambda e: e[1][0]):
        print(f"{uri}\t{key}")


main()
