"""ONNX Runtime, which reports nothing home.

Owns how it is brought in. From 1.29 on its Linux builds number each device and send events about models and runs,
unless a variable says otherwise before the library is first loaded: afterwards nothing stops all of it.
"""

from __future__ import annotations

import os
from typing import Any

OPT_OUT = ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED")
"""Variables that keep it silent: by the name that was released, and by the one before."""


def silence() -> None:
    """Keep ONNX Runtime silent in this process and those it starts; called before anything imports it."""
    for name in OPT_OUT:
        os.environ[name] = "1"


def load() -> Any:
    """Import ONNX Runtime."""
    silence()
    import onnxruntime

    return onnxruntime
