"""A model file of 100 KB with random weights: it says nonsense, and llama.cpp runs it like any other."""

import random
import struct
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

WIDTH, INNER, HEADS = 32, 64, 2
TOKENS = ["<unk>", "<s>", "</s>", *(f"<0x{number:02X}>" for number in range(256)), "\u2581"]
META: dict[str, Any] = {
    "general.architecture": "llama",
    "llama.block_count": 1,
    "llama.context_length": 8192,
    "llama.embedding_length": WIDTH,
    "llama.feed_forward_length": INNER,
    "llama.attention.head_count": HEADS,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "llama.vocab_size": len(TOKENS),
    "tokenizer.ggml.model": "llama",
    "tokenizer.ggml.tokens": TOKENS,
    "tokenizer.ggml.scores": [0.0] * len(TOKENS),
    "tokenizer.ggml.token_type": [2, 3, 3, *[6] * 256, 1],
    "tokenizer.ggml.bos_token_id": 1,
    "tokenizer.ggml.eos_token_id": 2,
    "tokenizer.ggml.unknown_token_id": 0,
}
SHAPES = {
    "token_embd.weight": (WIDTH, len(TOKENS)),
    "output_norm.weight": (WIDTH,),
    "output.weight": (WIDTH, len(TOKENS)),
    "blk.0.attn_norm.weight": (WIDTH,),
    "blk.0.ffn_norm.weight": (WIDTH,),
    **{f"blk.0.attn_{part}.weight": (WIDTH, WIDTH) for part in ("q", "k", "v", "output")},
    "blk.0.ffn_gate.weight": (WIDTH, INNER),
    "blk.0.ffn_up.weight": (WIDTH, INNER),
    "blk.0.ffn_down.weight": (INNER, WIDTH),
}
ALIGNMENT = 32


def write_model(path: Path) -> Path:
    """The file, in version 3 of the format."""
    chance = random.Random(1)
    data, infos = b"", b""
    for name, dims in SHAPES.items():
        infos += _text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, 0, len(data))
        weights = (chance.gauss(0, 0.1) if len(dims) > 1 else 1.0 for _ in range(prod(dims)))
        data += _aligned(struct.pack(f"<{prod(dims)}f", *weights))
    meta = b"".join(_text(key) + _value(value) for key, value in META.items())
    head = b"GGUF" + struct.pack("<IQQ", 3, len(SHAPES), len(META)) + meta + infos
    path.write_bytes(_aligned(head) + data)
    return path


def _aligned(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % ALIGNMENT)


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: Any) -> bytes:
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    packers: dict[type, tuple[int, Callable[[Any], bytes]]] = {
        str: (8, _text),
        int: (5, lambda number: struct.pack("<i", number)),
        float: (6, lambda number: struct.pack("<f", number)),
    }
    kind, pack = packers[type(value[0])]
    return struct.pack("<IIQ", 9, kind, len(value)) + b"".join(map(pack, value))
