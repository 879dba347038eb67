"""Kernels that `thresh tune` found on an NVIDIA GPU, as calls that torch_peers.py can time like PyTorch's own.

OpenCL's events have the time from the start to the end of one launch; a peer's time is that of many launches in a CUDA graph, over
their number. Of a kernel of 10 us the difference is a third. So the PTX that NVIDIA's OpenCL compiler makes of best.cl is loaded as a
CUDA module and launched in a graph, too:

    call = own_kernel.load("thresh-out")     best.json and host.c as `thresh tune --out` writes them
    call()                                   launches it on PyTorch's current stream

For programs of one kernel whose inputs and outputs are floats or half numbers.
"""
import ctypes
import json
import math
import re

import torch

PROGRAM_BINARY_SIZES, PROGRAM_BINARIES = 0x1165, 0x1166
GPU = 1 << 2


def check(error, what):
    if error:
        raise RuntimeError(f"{what} failed: error {error}")


def ptx(text):
    """What NVIDIA's OpenCL makes of a program."""
    cl = ctypes.CDLL("libOpenCL.so.1")
    for function in ("clCreateContext", "clCreateProgramWithSource"):
        getattr(cl, function).restype = ctypes.c_void_p
    n = ctypes.c_uint()
    check(cl.clGetPlatformIDs(0, None, ctypes.byref(n)), "clGetPlatformIDs")
    platforms = (ctypes.c_void_p * n.value)()
    check(cl.clGetPlatformIDs(n, platforms, None), "clGetPlatformIDs")
    device, error = ctypes.c_void_p(), ctypes.c_int()
    for platform in platforms:
        if cl.clGetDeviceIDs(ctypes.c_void_p(platform), ctypes.c_ulong(GPU), 1, ctypes.byref(device), None) == 0:
            break
    context = ctypes.c_void_p(cl.clCreateContext(None, 1, ctypes.byref(device), None, None, ctypes.byref(error)))
    check(error.value, "clCreateContext")
    texts = (ctypes.c_char_p * 1)(text.encode())
    program = ctypes.c_void_p(cl.clCreateProgramWithSource(context, 1, texts, None, ctypes.byref(error)))
    check(error.value, "clCreateProgramWithSource")
    check(cl.clBuildProgram(program, 1, ctypes.byref(device), b"-cl-std=CL1.2", None, None), "clBuildProgram")
    size = ctypes.c_size_t()
    check(cl.clGetProgramInfo(program, PROGRAM_BINARY_SIZES, ctypes.sizeof(size), ctypes.byref(size), None), "clGetProgramInfo")
    binary = ctypes.create_string_buffer(size.value)
    binaries = (ctypes.c_void_p * 1)(ctypes.addressof(binary))
    check(cl.clGetProgramInfo(program, PROGRAM_BINARIES, ctypes.sizeof(binaries), binaries, None), "clGetProgramInfo")
    # Textures are bound otherwise in OpenCL; CUDA refuses the word though no kernel here has any. The registers %envreg0 and
    # so on, where OpenCL finds offsets of groups and work-items, are not set by CUDA; here offsets are 0.
    text = binary.value.replace(b", texmode_independent", b"")
    return re.sub(rb"mov\.[bu](32|64)(\s+%\w+), %envreg\d+;", rb"mov.b\1\2, 0;", text)


def arguments(host, text):
    """The kernel's arguments in the order of host.c, with types as in the kernel's text. Buffers are random, or zeros
    where host.c says so: counters of the groups that are done."""
    types = re.findall(r"__global (?:const |volatile |thresh_shared )?(\w+) \*", text)
    for line in host.splitlines():
        buffer = re.search(r"cl_mem buffer\d+ = make_buffer\(context, (\d+), ", line)
        number = re.search(r"cl_float value\d+ = ", line)
        if buffer:
            half = types.pop(0) in ("half", "ushort")
            if "/* zeros */" in line:
                yield torch.zeros(int(buffer[1]), dtype=torch.uint8, device="cuda")
                continue
            numbers = torch.rand(int(buffer[1]) // (2 if half else 4), device="cuda") * 2 - 1
            yield numbers.half() if half else numbers
        elif number:
            yield 0.5


class Kernel:
    """The best kernel of a folder, its arguments filled."""

    def __init__(self, folder):
        with open(f"{folder}/best.json") as file:
            self.best = json.load(file)
        if "opencl" not in self.best:
            raise RuntimeError(f"{folder}: a sequence of kernels")
        self.text = self.best["opencl"]
        with open(f"{folder}/host.c") as file:
            self.values = list(arguments(file.read(), self.text))

    def load(self, text, options):
        """A call of the kernel in PTX, with options of CUDA's compiler and their numbers; None: it cannot be built so."""
        best, cuda = self.best, ctypes.CDLL("libcuda.so.1")
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        torch.cuda.synchronize()
        names = (ctypes.c_int * (len(options) + 1))(*options)
        numbers = (ctypes.c_void_p * (len(options) + 1))(*options.values())
        if cuda.cuModuleLoadDataEx(ctypes.byref(module), text, len(options), names, numbers):
            return None
        check(cuda.cuModuleGetFunction(ctypes.byref(function), module, best["entry"].encode()), "cuModuleGetFunction")
        words = [ctypes.c_float(v) if isinstance(v, float) else ctypes.c_void_p(v.data_ptr()) for v in self.values]
        pointers = (ctypes.c_void_p * len(words))(*[ctypes.cast(ctypes.byref(w), ctypes.c_void_p) for w in words])
        local = best["local_size"]
        if 0 in local:  # the driver chooses; here the largest power of two up to 256
            local = [math.gcd(best["global_size"][0], 256)] + [1] * (len(local) - 1)
        groups = [g // n for g, n in zip(best["global_size"], local)]

        def call():
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            check(cuda.cuLaunchKernel(function, *groups, *local, 0, stream, pointers, None), "cuLaunchKernel")

        call.keep = (self.values, words)
        call.function = function
        return call


def load(folder):
    kernel = Kernel(folder)
    call = kernel.load(ptx(kernel.text), {})
    if call is None:
        raise RuntimeError(f"{folder}: CUDA does not load the kernel")
    return call
