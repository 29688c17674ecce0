#!/usr/bin/env python3
"""Samples a second of PyTorch DDP (Gloo) on models that Lockstep has too: the peer of
bench/against_ddp. Random data, no loading: the peer's best case.

    python3 bench/ddp.py resnet20|mlp BATCH STEPS [PROCESSES [none|fp16|powersgd]]

It starts the processes itself, 2 unless told; or, with RANK and WORLD_SIZE in the environment, it
is one of them and finds the others by MASTER_ADDR.
"""
import datetime
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook


class Block(nn.Module):
    """Two convolutions and an option-A shortcut."""

    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outside)
        self.stride, self.more = stride, outside - inside

    def forward(self, x):
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        if self.stride > 1:
            x = x[:, :, :: self.stride, :: self.stride]
        if self.more > 0:
            x = F.pad(x, (0, 0, 0, 0, self.more // 2, self.more - self.more // 2))
        return F.relu(y + x)


def resnet20():
    layers = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    inside = 16
    for outside, stride in ((16, 1), (32, 2), (64, 2)):
        for block in range(3):
            layers.append(Block(inside, outside, stride if block == 0 else 1))
            inside = outside
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)]
    return nn.Sequential(*layers).to(memory_format=torch.channels_last)


def mlp():
    widths = [784, 2048, 2048, 2048, 10]
    layers = []
    for i in range(4):
        layers.append(nn.Linear(widths[i], widths[i + 1]))
        if i < 3:
            layers.append(nn.ReLU())
    return nn.Sequential(*layers)


def distributed(model, hook):
    megabytes = 25  # of a bucket: the default
    if hook == "powersgd":
        # The hook waits inside Gloo's threads, and with several buckets it hangs or crashes. So one
        # bucket; the first has a limit of its own.
        megabytes = 1024
        dist._DEFAULT_FIRST_BUCKET_BYTES = megabytes << 20
    model = nn.parallel.DistributedDataParallel(model, bucket_cap_mb=megabytes)
    if hook == "fp16":
        model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    if hook == "powersgd":
        # It starts in the third step, the earliest it allows and the last before the clock runs.
        state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=2,
                                            start_powerSGD_iter=2)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    return model


def work(rank, processes, name, batch, steps, hook):
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    dist.init_process_group("gloo", rank=rank, world_size=processes,
                            timeout=datetime.timedelta(minutes=2))
    model = distributed(resnet20() if name == "resnet20" else mlp(), hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    x = torch.randn(batch, 3, 32, 32).to(memory_format=torch.channels_last)
    if name == "mlp":
        x = torch.randn(batch, 784)
    y = torch.randint(0, 10, (batch,))
    for step in range(steps + 3):
        if step == 3:
            dist.barrier()
            began = time.perf_counter()
        optimizer.zero_grad(set_to_none=False)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    dist.barrier()
    if rank == 0:
        print(f"{processes * batch * steps / (time.perf_counter() - began):.1f}")


def main():
    arguments = sys.argv[1:]
    hook = arguments.pop() if len(arguments) == 5 else "none"
    if (len(arguments) not in (3, 4) or arguments[0] not in ("resnet20", "mlp")
            or hook not in ("none", "fp16", "powersgd")):
        sys.exit(__doc__)
    name, batch, steps = arguments[0], int(arguments[1]), int(arguments[2])
    count = int(arguments[3]) if len(arguments) == 4 else 2
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29533")
    if "RANK" in os.environ:
        work(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), name, batch, steps, hook)
    else:
        mp.spawn(work, (count, name, batch, steps, hook), nprocs=count)


if __name__ == "__main__":
    main()
