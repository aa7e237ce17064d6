# SPDX-License-Identifier: MIT
"""Changes to Mesa's source that a front end loaded into other people's programs needs.

Each is an exact replacement with its reason. One whose text is no longer there stops the build, so that moving the
pin cannot drop it silently.
"""

import pathlib
import sys

FIXUPS = [
    # ralloc's own assertions name members that exist in debug builds only, and are hot: leave them out.
    ("src/util/ralloc.c", "#include <assert.h>\n", "#define CORTLAND_NO_ASSERT 1\n#include <assert.h>\n"),
    # INT_MIN / -1 traps on x86. SPIR-V leaves the result undefined, it does not allow the process to be killed.
    (
        "src/compiler/nir/nir_opcodes.py",
        '"src1 == 0 ? 0 : (src0 / src1)")\nbinop("udiv"',
        '"src1 == 0 ? 0 : src1 == -1 ? (int64_t)(0 - (uint64_t)src0) : (src0 / src1)")\nbinop("udiv"',
    ),
    (
        "src/compiler/nir/nir_opcodes.py",
        'binop("irem", tint, "", "src1 == 0 ? 0 :',
        'binop("irem", tint, "", "src1 == 0 || src1 == -1 ? 0 :',
    ),
    (
        "src/compiler/nir/nir_opcodes.py",
        'binop("imod", tint, "",\n      "src1 == 0 ? 0 :',
        'binop("imod", tint, "",\n      "src1 == 0 || src1 == -1 ? 0 :',
    ),
    # Tell the guard what to free when an assertion ends the translation early.
    (
        "src/compiler/spirv/spirv_to_nir.c",
        "   b->shader = nir_shader_create(b, stage, nir_options, NULL);\n",
        "   cortland_guard_own(b);\n   b->shader = nir_shader_create(b, stage, nir_options, NULL);\n",
    ),
]


def main():
    root = pathlib.Path(sys.argv[1])
    for name, old, new in FIXUPS:
        path = root / name
        text = path.read_text(encoding="utf-8")
        if text.count(old) != 1:
            sys.exit(f"fixups.py: {name}: expected this text once, found it {text.count(old)} times:\n{old}")
        path.write_text(text.replace(old, new), encoding="utf-8")


main()
