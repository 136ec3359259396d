"""Forward passes as replays of a CUDA graph, as PyTorch's notes on CUDA have it:
warm up on a stream of its own, capture, copy inputs to where they were, replay.
"""

import torch

import given_models

WARM_UP = 3 # passes, in which libraries choose and allocate


class Graphed(given_models.Steps):
    """`forward` reads `inputs`, which lie on the device; each step copies
    `batch` to there."""

    def __init__(self, device, forward, inputs=(), batch=()):
        self.device = device
        self.inputs, self.batch = inputs, batch
        self.forward = forward # the graph knows addresses: these must stay
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.inference_mode():
            with torch.cuda.stream(side):
                for _ in range(WARM_UP):
                    forward()
            torch.cuda.current_stream().wait_stream(side)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.output = forward() # whose memory the graph writes

    def step(self):
        for there, here in zip(self.inputs, self.batch):
            there.copy_(here, non_blocking=True)
        self.graph.replay()
