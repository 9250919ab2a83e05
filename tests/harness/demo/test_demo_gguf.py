"""The converter on small GGUF files written by the gguf library itself."""

import json
from pathlib import Path

import numpy as np
import pytest

from harness.demo.fetch import AssetError
from harness.demo.gguf import Metadata, convert, model_config, unpermute, weight_name

gguf = pytest.importorskip("gguf", reason="the engine's extra is not installed: run `make engine`")
HEADS, KV_HEADS, HIDDEN, HEAD_DIM = 4, 2, 32, 8


def write_model(path: Path, *, architecture: str = "llama", output: bool = False) -> dict[str, np.ndarray]:
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(64)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_freq_base(10_000.0)
    writer.add_rope_dimension_count(HEAD_DIM)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(5)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(["<|im_start|>", "<|im_end|>", "a", "b", "ab"])
    writer.add_token_types([3, 3, 1, 1, 1])
    writer.add_token_merges(["a b"])
    for name, value in (("bos", 0), ("eos", 1), ("pad", 1), ("unk", 0)):
        getattr(writer, f"add_{name}_token_id")(value)
    writer.add_chat_template("{{ messages }}")
    random = np.random.default_rng(0)
    shapes = {
        "token_embd": (5, HIDDEN), "output_norm": (HIDDEN,), "blk.0.attn_norm": (HIDDEN,), "blk.0.ffn_norm": (HIDDEN,),
        "blk.0.attn_q": (HEADS * HEAD_DIM, HIDDEN), "blk.0.attn_k": (KV_HEADS * HEAD_DIM, HIDDEN),
        "blk.0.attn_v": (KV_HEADS * HEAD_DIM, HIDDEN), "blk.0.attn_output": (HIDDEN, HIDDEN),
        "blk.0.ffn_gate": (64, HIDDEN), "blk.0.ffn_up": (64, HIDDEN), "blk.0.ffn_down": (HIDDEN, 64),
    }  # fmt: skip
    if output:
        shapes["output"] = (5, HIDDEN)
    weights = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    for name, values in weights.items():
        quantize = name == "blk.0.ffn_up"
        data = gguf.quantize(values, gguf.GGMLQuantizationType.Q8_0) if quantize else values
        writer.add_tensor(f"{name}.weight", data, raw_dtype=gguf.GGMLQuantizationType.Q8_0 if quantize else None)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return weights


def test_a_model_is_converted_whole(tmp_path: Path) -> None:
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    weights = write_model(tmp_path / "m.gguf")
    convert(tmp_path / "m.gguf", tmp_path / "out")
    found = load_file(tmp_path / "out" / "model.safetensors")
    assert len(found) == len(weights)
    assert {array.dtype for array in found.values()} == {np.dtype(np.float32)}
    layer = "model.layers.0."
    np.testing.assert_array_equal(found[layer + "mlp.down_proj.weight"], weights["blk.0.ffn_down"])
    np.testing.assert_array_equal(
        found[layer + "self_attn.k_proj.weight"], unpermute(weights["blk.0.attn_k"], KV_HEADS)
    )
    np.testing.assert_allclose(found[layer + "mlp.up_proj.weight"], weights["blk.0.ffn_up"], atol=0.03)
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert (config["tie_word_embeddings"], config["eos_token_id"], config["num_key_value_heads"]) == (True, 1, 2)
    tokenizer = Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    assert tokenizer.encode("<|im_start|>ab").ids == [0, 4]
    assert tokenizer.decode([4, 1]) == "ab"
    described = json.loads((tmp_path / "out" / "tokenizer_config.json").read_text())
    assert (described["eos_token"], described["chat_template"]) == ("<|im_end|>", "{{ messages }}")
    assert (tmp_path / "out" / "model.safetensors").stat().st_mode & 0o777 == 0o644


def test_an_output_layer_unties_the_embedding(tmp_path: Path) -> None:
    write_model(tmp_path / "m.gguf", output=True)
    convert(tmp_path / "m.gguf", tmp_path / "out")
    assert json.loads((tmp_path / "out" / "config.json").read_text())["tie_word_embeddings"] is False


def test_another_architecture_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path / "m.gguf", architecture="qwen2")
    with pytest.raises(AssetError, match="architecture 'qwen2'"):
        convert(tmp_path / "m.gguf", tmp_path / "out")


def test_unpermute_inverts_llama_cpp() -> None:
    weight = np.arange(HEADS * HEAD_DIM * 3, dtype=np.float32).reshape(HEADS * HEAD_DIM, 3)
    # What llama.cpp does when it writes GGUF.
    permuted = weight.reshape(HEADS, 2, HEAD_DIM // 2, 3).swapaxes(1, 2).reshape(weight.shape)
    np.testing.assert_array_equal(unpermute(permuted, HEADS), weight)


@pytest.mark.parametrize("name", ["blk.0.attn_q", "blk.0.ffn_gate_exps.weight", "rope_freqs.weight"])
def test_unknown_tensors_are_refused(name: str) -> None:
    with pytest.raises(AssetError, match="no place for"):
        weight_name(name)


def test_a_missing_field_is_named() -> None:
    with pytest.raises(AssetError, match=r"no field llama\.rope\.freq_base"):
        model_config(Metadata({"general.architecture": "llama"}), tied=True)
