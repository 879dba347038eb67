"""compiler_options.py FOLDER...: times kernels that `thresh tune --out FOLDER` found on an NVIDIA GPU with other options of the
driver's compiler, one JSON object a line: how many times as fast each makes the kernel.

    compiler_options.py thresh-out     {"folder": "thresh-out", "registers": 64, "ns": 51472.0, "again": 0.998, "registers 32": 0.982, ...}

Each is timed in a CUDA graph, as torch_peers.py times its peers; "again" is the kernel as it is once more, so that the noise is seen.
The options: registers of a work-item at most; groups that a multiprocessor must have room for (launch bounds; OpenCL cannot say that);
the optimization level (4 is the default); loads and asynchronous copies that fetch 64, 128 or 256 bytes into the second-level cache.
"""
import ctypes
import json
import re
import sys

import own_kernel
import torch_peers

MAX_REGISTERS, OPTIMIZATION_LEVEL = 0, 7  # CUjit_option
NUM_REGS = 4  # CUfunction_attribute


def with_groups(text, groups):
    return re.sub(rb"(\.reqntid[^\n]*\n)", rb"\1.minnctapersm %d\n" % groups, text, count=1)


def with_prefetch(text, size):
    """Loads of 256 bytes exist, copies do not."""
    text = re.sub(rb"ld\.global\.(nc\.)?(v[24]\.)?([fub]\d)",
                  lambda m: b"ld.global." + (m[1] or b"") + b"L2::" + size + b"." + (m[2] or b"") + m[3], text)
    return text if size == b"256B" else re.sub(rb"(cp\.async\.c[ag]\.shared\.global)", rb"\1.L2::" + size, text)


def variants(text):
    """Names, texts of PTX and options."""
    yield "as it is", text, {}
    for n in 32, 40, 48, 64, 80, 96, 128, 168:
        yield f"registers {n}", text, {MAX_REGISTERS: n}
    for n in 1, 2, 3, 4, 6:
        yield f"groups {n}", with_groups(text, n), {}
    for n in 1, 2, 3:
        yield f"level {n}", text, {OPTIMIZATION_LEVEL: n}
    for size in b"64B", b"128B", b"256B":
        yield f"fetch {size.decode()}", with_prefetch(text, size), {}


def registers(function):
    n = ctypes.c_int()
    own_kernel.check(ctypes.CDLL("libcuda.so.1").cuFuncGetAttribute(ctypes.byref(n), NUM_REGS, function), "cuFuncGetAttribute")
    return n.value


def main(folders):
    for folder in folders:
        best = own_kernel.Kernel(folder)
        text, row = own_kernel.ptx(best.text), {"folder": folder}
        for name, changed, options in variants(text):
            if name != "as it is" and changed == text and not options:
                continue
            call = best.load(changed, options)
            if call is None:
                continue
            ns = torch_peers.time_ns(call)
            if name == "as it is":
                row |= {"registers": registers(call.function), "ns": ns, "again": round(ns / torch_peers.time_ns(call), 3)}
            else:
                row[name] = round(row["ns"] / ns, 3)
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: compiler_options.py FOLDER...")
    main(sys.argv[1:])
