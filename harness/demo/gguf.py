"""GGUF to the folder engines load: safetensors, config.json, tokenizer.json.

The demo model comes as one GGUF file (Q4_1 weights, tokenizer inside) and vLLM reads no GGUF. Weights are dequantised
to float32, which holds every Q4_1 value exactly: one folder then serves float32 and bfloat16 runs under one model hash.
Only the LLaMA architecture with a GPT-2 style BPE tokenizer is known here. Heavy imports are late.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.demo.fetch import AssetError

Floats = npt.NDArray[np.float32]
SPECIAL_TOKEN = 3
"""GGUF's token type of control tokens (<|im_start|> and the like)."""

_TOP = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_BLOCK = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


@dataclass(frozen=True, slots=True)
class Metadata:
    """The key-value part of a GGUF file, with the LLaMA architecture's keys at hand."""

    fields: Mapping[str, Any]

    def __post_init__(self) -> None:
        found = self.fields.get("general.architecture")
        if found != "llama":
            raise AssetError(f"the GGUF file is of architecture {found!r}: only 'llama' can be converted here")

    def llama(self, key: str) -> Any:
        """The value of `llama.<key>`. Raises AssetError when the file lacks it."""
        return self.any(f"llama.{key}")

    def any(self, key: str) -> Any:
        """The value of a full key. Raises AssetError when the file lacks it."""
        if key not in self.fields:
            raise AssetError(f"the GGUF file has no field {key}: use the file the demo pins")
        return self.fields[key]


def convert(source: Path, out: Path) -> None:
    """Write `out`/{model.safetensors, config.json, generation_config.json, tokenizer.json, tokenizer_config.json}.

    Takes about 1.2 GB of memory and some seconds for the demo model. Raises AssetError for a file of another kind.
    """
    from gguf import GGUFReader  # noqa: PLC0415  (an engine extra: absent in the core install)
    from safetensors.numpy import save_file  # noqa: PLC0415

    reader = GGUFReader(source)
    metadata = Metadata({name: field.contents() for name, field in reader.fields.items()})
    weights = read_weights(reader.tensors, metadata)
    out.mkdir(parents=True, exist_ok=True)
    save_file(weights, out / "model.safetensors", metadata={"format": "pt"})
    (out / "model.safetensors").chmod(0o644)  # the library leaves it readable by its owner only
    _write_json(out / "config.json", model_config(metadata, tied="lm_head.weight" not in weights))
    _write_json(out / "generation_config.json", _token_ids(metadata))
    write_tokenizer(metadata, out)


def read_weights(tensors: Any, metadata: Metadata) -> dict[str, Floats]:
    """Every tensor by its Hugging Face name, dequantised to float32."""
    from gguf import dequantize  # noqa: PLC0415

    weights: dict[str, Floats] = {}
    for tensor in tensors:
        values: Floats = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        part = tensor.name.split(".")[-2]
        if part == "attn_q":
            values = unpermute(values, metadata.llama("attention.head_count"))
        elif part == "attn_k":
            values = unpermute(values, metadata.llama("attention.head_count_kv"))
        weights[weight_name(tensor.name)] = values
    return weights


def weight_name(gguf_name: str) -> str:
    """`blk.3.attn_q.weight` -> `model.layers.3.self_attn.q_proj.weight`. Raises AssetError for an unknown tensor."""
    parts = gguf_name.split(".")
    if parts[0] == "blk" and len(parts) == 4 and parts[2] in _BLOCK:  # noqa: PLR2004  (blk, layer, part, weight)
        return f"model.layers.{parts[1]}.{_BLOCK[parts[2]]}.{parts[3]}"
    if parts[0] in _TOP:
        return f"{_TOP[parts[0]]}.{parts[1]}"
    raise AssetError(f"the GGUF file holds a tensor {gguf_name} that a LLaMA model has no place for")


def unpermute(weight: Floats, heads: int) -> Floats:
    """Undo llama.cpp's row order of the q and k projections (it interleaves the rotary halves; HF keeps them apart)."""
    half = weight.shape[0] // heads // 2
    return np.ascontiguousarray(weight.reshape(heads, half, 2, -1).swapaxes(1, 2).reshape(weight.shape))


def model_config(metadata: Metadata, *, tied: bool) -> dict[str, Any]:
    """config.json of the Hugging Face LLaMA model. `tied`: the output layer is the embedding."""
    theta = float(metadata.llama("rope.freq_base"))
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "hidden_size": metadata.llama("embedding_length"),
        "intermediate_size": metadata.llama("feed_forward_length"),
        "num_hidden_layers": metadata.llama("block_count"),
        "num_attention_heads": metadata.llama("attention.head_count"),
        "num_key_value_heads": metadata.llama("attention.head_count_kv"),
        "head_dim": metadata.llama("rope.dimension_count"),
        "max_position_embeddings": metadata.llama("context_length"),
        "rms_norm_eps": float(metadata.llama("attention.layer_norm_rms_epsilon")),
        "rope_theta": theta,
        "rope_parameters": {"rope_type": "default", "rope_theta": theta},
        "vocab_size": metadata.llama("vocab_size"),
        "tie_word_embeddings": tied,
        "attention_bias": False,
        "mlp_bias": False,
        "dtype": "float32",
        **_token_ids(metadata),
    }


def write_tokenizer(metadata: Metadata, out: Path) -> None:
    """tokenizer.json and tokenizer_config.json from the tokenizer inside the GGUF file."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers  # noqa: PLC0415

    tokens: list[str] = metadata.any("tokenizer.ggml.tokens")
    kinds: list[int] = metadata.any("tokenizer.ggml.token_type")
    merges = [tuple(merge.split(" ", 1)) for merge in metadata.any("tokenizer.ggml.merges")]
    tokenizer = Tokenizer(models.BPE(vocab={token: index for index, token in enumerate(tokens)}, merges=merges))
    # The "smollm" pre-tokenizer: digits apart, then GPT-2's byte level pattern.
    digits = pre_tokenizers.Digits(individual_digits=True)
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    special = [token for token, kind in zip(tokens, kinds, strict=True) if kind == SPECIAL_TOKEN]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    tokenizer.save(str(out / "tokenizer.json"))
    ids = _token_ids(metadata)
    described = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": tokens[ids["bos_token_id"]],
        "eos_token": tokens[ids["eos_token_id"]],
        "pad_token": tokens[ids["pad_token_id"]],
        "unk_token": tokens[metadata.any("tokenizer.ggml.unknown_token_id")],
        "model_max_length": metadata.llama("context_length"),
        "clean_up_tokenization_spaces": False,
        "chat_template": metadata.any("tokenizer.chat_template"),
    }
    _write_json(out / "tokenizer_config.json", described)


def _token_ids(metadata: Metadata) -> dict[str, int]:
    return {
        "bos_token_id": metadata.any("tokenizer.ggml.bos_token_id"),
        "eos_token_id": metadata.any("tokenizer.ggml.eos_token_id"),
        "pad_token_id": metadata.any("tokenizer.ggml.padding_token_id"),
    }


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
