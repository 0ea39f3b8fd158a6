#!/usr/bin/env python3
"""Says which of TensorFlow's names are missing here, those that most programs use first.

    python crates/python/tools/missing_names.py names.tsv          # lines: name, tab, number of programs
    python crates/python/tools/missing_names.py --programs FOLDER  # each folder in it is a program

Lines of a table that begin with `# internal` start its second part, of names of internal modules. What is
refused for good ("never") is told apart from what is not there yet.
"""

import argparse
import collections
import os
import sys

from millstream.programs import check


def main():
    """Prints the missing names with their numbers of programs; returns 1 if one is missing that may come."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", help="a table of names, or with --programs a folder of programs")
    parser.add_argument("--programs", action="store_true", help="count the uses in the folders of a folder")
    parser.add_argument("--never", action="store_true", help="print the names too that are refused for good")
    options = parser.parse_args()
    programs = of_programs(options.path) if options.programs else {}
    counts = collections.Counter(name for names in programs.values() for name in names) if programs else of_table(options.path)
    kinds = collections.Counter()
    kind_of = {}
    lines = []
    for (name, count) in counts.items():
        at, kind, text = check.judged(name)
        kind = kind_of[name] = "there" if kind == "differs" else kind
        kinds[kind] += 1
        if kind != "there" and (options.never or kind != "never"):
            lines.append((-count, kind, at if at == name else "%s (of %s)" % (at, name), text))
    for count, kind, name, text in sorted(lines):
        print("%4d  %-8s  %s" % (-count, kind, name))
    print("%d names: %s" % (len(counts), ", ".join("%d %s" % (n, kind) for kind, n in kinds.most_common())))
    if programs:
        whole = [all(kind_of[name] == "there" for name in names) for names in programs.values()]
        rest = [all(kind_of[name] in ("there", "never", "renamed") for name in names) for names in programs.values()]
        print("%d of %d programs find all their names; %d do but for names that are refused for good or that TensorFlow "
              "1.15 no longer has" % (sum(whole), len(whole), sum(rest)))
    return 1 if lines else 0


def of_table(path):
    """Returns the numbers of programs of a table's names."""
    counts = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if len(fields) > 1 and not line.startswith("#"):
                counts[fields[0]] = int(fields[1])
    return counts


def of_programs(folder):
    """Returns the sets of names that programs use, each a folder in `folder`."""
    programs = {}
    for program in sorted(os.listdir(folder)):
        names = set()
        for file in check.files([os.path.join(folder, program)]):
            try:
                with open(file, encoding="utf-8-sig") as source:
                    names.update(use.path for use in check.uses(source.read()))
            except (OSError, SyntaxError, ValueError):
                continue  # a file for Python 2, or none of Python
        programs[program] = names - {""}
    return programs


if __name__ == "__main__":
    sys.exit(main())
