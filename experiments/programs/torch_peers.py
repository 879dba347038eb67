"""torch_peers.py NAME:NUMBER,NUMBER... ...: times PyTorch's own kernels as thresh times its own, one JSON object a line.

    torch_peers.py softmax:4096,4096 conv:1,64,64,224     {"peer": "softmax:4096,4096", "ns": 61234.0}

A peer is captured in a CUDA graph of 20 calls, which is replayed 11 times after a warm-up; the time is the median of the replays
divided by the calls. Inputs are uniform in [-1, 1], TF32 is off
but for tf32_matmul.

    copy:BYTES             a copy on the device that reads and writes BYTES together
    matmul:M,N,K  half_matmul:M,N,K (of half numbers)  tf32_matmul:M,N,K (of floats, in TF32)  gemv:M,N  dot:N  sum:N  argmax:M,N  softmax:M,N  layer_norm:M,N
    attention:N,M,D        N queries, M keys and values of D, not scaled: PyTorch's fused one
    attention_parts:N,M,D  the same as matmul, softmax, matmul
    conv:BATCH,IN,OUT,HW   a convolution of 3 x 3 with padding 1; conv_nhwc: the same in the layout "channels last"
    own:FOLDER             the kernel that `thresh tune --out FOLDER` found (own_kernel.py), launched and timed like the others
"""
import json
import statistics
import sys

import torch

import own_kernel

CALLS, REPLAYS = 20, 11


def uniform(*shape):
    return torch.rand(*shape, device="cuda") * 2 - 1


def copy(size):
    source = uniform(size // 8)
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def matmul(m, n, k):
    a, b, c = uniform(m, k), uniform(k, n), torch.empty(m, n, device="cuda")
    return lambda: torch.matmul(a, b, out=c)


def half_matmul(m, n, k):
    a, b = uniform(m, k).half(), uniform(k, n).half()
    c = torch.empty(m, n, device="cuda", dtype=torch.half)
    return lambda: torch.matmul(a, b, out=c)


def tf32_matmul(m, n, k):
    call = matmul(m, n, k)

    def allowed():
        torch.backends.cuda.matmul.allow_tf32 = True
        call()
        torch.backends.cuda.matmul.allow_tf32 = False

    return allowed


def gemv(m, n):
    a, x, y = uniform(m, n), uniform(n), torch.empty(m, device="cuda")
    return lambda: torch.mv(a, x, out=y)


def dot(n):
    x, y = uniform(n), uniform(n)
    return lambda: torch.dot(x, y)


def total(n):
    x = uniform(n)
    return lambda: torch.sum(x)


def argmax(m, n):
    x = uniform(m, n)
    return lambda: torch.argmax(x, dim=1)


def softmax(m, n):
    x = uniform(m, n)
    return lambda: torch.softmax(x, dim=1)


def layer_norm(m, n):
    x, gain, bias = uniform(m, n), uniform(n), uniform(n)
    return lambda: torch.nn.functional.layer_norm(x, (n,), gain, bias)


def attention(n, m, d):
    q, k, v = (uniform(1, 1, rows, d) for rows in (n, m, m))
    return lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=1.0)


def attention_parts(n, m, d):
    q, k, v = uniform(n, d), uniform(m, d), uniform(m, d)
    return lambda: torch.softmax(q @ k.T, dim=1) @ v


def conv(batch, inputs, outputs, size, layout=torch.contiguous_format):
    x = uniform(batch, inputs, size, size).to(memory_format=layout)
    w = uniform(outputs, inputs, 3, 3).to(memory_format=layout)
    return lambda: torch.nn.functional.conv2d(x, w, padding=1)


def conv_nhwc(*sizes):
    return conv(*sizes, layout=torch.channels_last)


PEERS = {"copy": copy, "matmul": matmul, "half_matmul": half_matmul, "tf32_matmul": tf32_matmul, "gemv": gemv, "dot": dot, "sum": total, "argmax": argmax,
         "softmax": softmax, "layer_norm": layer_norm, "attention": attention,
         "attention_parts": attention_parts, "conv": conv, "conv_nhwc": conv_nhwc}


def time_ns(call):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            call()
    graph.replay()
    times = []
    for _ in range(REPLAYS):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e6 / CALLS)
    return statistics.median(times)


def main(names):
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    for name in names:
        kind, _, rest = name.partition(":")
        call = own_kernel.load(rest) if kind == "own" else PEERS[kind](*map(int, rest.split(",")))
        print(json.dumps({"peer": name, "ns": time_ns(call)}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
