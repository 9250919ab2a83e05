import json
import pickle

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from harness.cli import main
from harness.dataset.convert import Conversion, convert
from harness.dataset.show import describe_dataset
from harness.errors import StorageError
from harness.evaluate.references import read_references
from harness.storage import sha256_file
from sut.dataset import TokenDataset
from sut.errors import BadDataset

INT32_MAX = 2**31 - 1


def source(folder, rows, name="rows.jsonl"):
    path = folder / name
    text = json.dumps(rows) if name.endswith(".json") else "\n".join(json.dumps(row) for row in rows) + "\n"
    path.write_text(text)
    return path


def tokenizer(folder):
    vocabulary = {"[UNK]": 0, "tell": 1, "me": 2, "more": 3}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token=next(iter(vocabulary))))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    # As some tokenizer.json ask for it: what convert must not do to a prompt.
    made.enable_truncation(2)
    made.enable_padding(length=8)
    path = folder / "tokenizer.json"
    made.save(str(path))
    return path


def converted(folder, rows, name="rows.jsonl", **options):
    out = folder / "out"
    done = convert(Conversion(source(folder, rows, name), out, **options))
    dataset = TokenDataset.open(out)
    return done, [dataset.tokens(index).tolist() for index in range(len(dataset))], out


@pytest.mark.parametrize("name", ["rows.json", "rows.jsonl"])
@pytest.mark.parametrize("field", ["tok_input", "input_ids", "tokens", "token_ids", "prompt_token_ids"])
def test_the_usual_fields_of_token_ids(tmp_path, name, field):
    done, prompts, out = converted(tmp_path, [{field: [5, 0, INT32_MAX]}, {field: [7]}], name)
    assert prompts == [[5, 0, INT32_MAX], [7]]
    assert (done.samples, done.tokenized, done.references, done.token_field) == (2, 0, 0, field)
    assert not (out / "references.jsonl").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", name]


@pytest.mark.parametrize("field", ["output", "reference", "gt_output", "ref_output", "response", "ideal"])
def test_the_usual_fields_of_references(tmp_path, field):
    done, _, out = converted(tmp_path, [{"tokens": [1], field: "as it is: é"}, {"tokens": [2], field: ""}])
    assert [row.reference for row in read_references(out)] == ["as it is: é", ""]
    assert done.reference_field == field


def test_named_fields_win_over_the_usual(tmp_path):
    row = {"tokens": [1], "mine": [2, 3], "output": "theirs", "gold": "mine"}
    _, prompts, out = converted(tmp_path, [row], tokens="mine", reference="gold")
    assert prompts == [[2, 3]]
    assert read_references(out)[0].reference == "mine"


def test_answers_and_choices(tmp_path):
    rows = [{"tokens": [1], "answer": "B", "choices": ["A", "B"]}, {"tokens": [1], "answer": 3}]
    _, _, out = converted(tmp_path, rows)
    first, second = read_references(out)
    assert (first.answer, first.choices, first.reference) == ("B", ("A", "B"), "")
    assert (second.answer, second.choices) == ("", ())


def test_text_where_a_row_has_no_token_ids(tmp_path):
    path = tokenizer(tmp_path)
    rows = [{"input": "tell me more"}, {"tokens": [3, 3], "input": "tell"}]
    done, prompts, out = converted(tmp_path, rows, text="input", tokenizer=path)
    assert prompts == [[1, 2, 3], [3, 3]]
    assert (done.tokenized, done.token_field) == (1, "tokens")
    assert TokenDataset.open(out).info.tokenizer_sha256 == sha256_file(path)


def test_what_dataset_json_says(tmp_path):
    _, _, out = converted(tmp_path, [{"tokens": [1, 2]}], name="a.json", licence="MIT", origin="there")
    info = TokenDataset.open(out).info
    assert (info.name, info.source, info.licence, info.max_input_tokens) == ("out", "there", "MIT", 2)
    convert(Conversion(tmp_path / "a.json", tmp_path / "b", name="mine"))
    info = TokenDataset.open(tmp_path / "b").info
    assert info.name == "mine"
    assert info.source == f"a.json, sha256 {sha256_file(tmp_path / 'a.json')}"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"tokens": []}, "the prompt is empty"),
        ({"tokens": [1, 2.0]}, "2.0 at place 1 is no integer"),
        ({"tokens": [True]}, "True at place 0 is no integer"),
        ({"tokens": ["1"]}, "'1' at place 0 is no integer"),
        ({"tokens": [4, -1]}, "-1 at place 1 is negative"),
        ({"tokens": [INT32_MAX + 1]}, "above the largest int32"),
        ({"tokens": "1 2"}, "is a str, not a list"),
        ({"tokens": None}, "neither token ids nor text; looked in 'tokens'"),
        ({}, "neither token ids nor text"),
        ({"tokens": [1], "output": None}, "output: no reference text"),
        ({"tokens": [1], "output": "x", "choices": "AB", "answer": "A"}, "choices: no list of texts"),
        ({"tokens": [1], "output": "x", "choices": ["A"], "answer": 0}, "answer: 0 is none of"),
        ([1, 2], "is of type list, not an object"),
    ],
)
def test_a_bad_row_is_named_by_its_number(tmp_path, row, words):
    good = {"tokens": [1], "output": "x"}
    with pytest.raises(BadDataset) as raised:
        converted(tmp_path, [good, row, good])
    assert "rows.jsonl: line 2: " in str(raised.value)
    assert words in str(raised.value)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_every_problem_at_once_in_order_and_bounded(tmp_path):
    rows = [{"tokens": [1], "output": "x"}] + [{"tokens": [], "output": 1}] * 15
    with pytest.raises(BadDataset) as raised:
        converted(tmp_path, rows)
    lines = str(raised.value).splitlines()
    assert [line.split(": ")[1] for line in lines[:4]] == ["line 2", "line 2", "line 3", "line 3"]
    assert "10 more problems" in lines[20]
    assert lines[-1].endswith("convert again")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.pkl", pickle.dumps([{"tokens": [1]}], protocol=0), "is a pickle"),
        ("a.json", pickle.dumps([{"tokens": [1]}]), "convert it to JSONL first"),
        ("a.parquet", b"PAR1....", "Parquet"),
        ("a.json", b"\x1f\x8b\x08", "gunzip"),
        ("a.json", b"[{", "no JSON list"),
        ("a.jsonl", b'{"tokens": [1]}\n{"tokens"\n', "line 2: not JSON"),
        ("a.jsonl", b'{"tokens": [1], "output": "\xff"}\n', "line 1: not JSON"),
        ("a.json", b'{\n "tokens": [1]\n}', "one JSON object on one line"),
        ("a.jsonl", b"", "has no rows"),
        ("a.json", b"[]", "has no rows"),
        ("a.jsonl", b'{"x": 1, "y": 2}\n', "the first row has x, y"),
    ],
)
def test_what_is_no_source(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadDataset, match=words):
        convert(Conversion(tmp_path / name, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_byte_order_mark_and_empty_lines(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf\n{"tokens": [1]}\r\n\r\n{"tokens": [2]}')
    assert convert(Conversion(tmp_path / "a.jsonl", tmp_path / "out")).samples == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"text": "input"}, "add --tokenizer"),
        ({"text": "input", "tokenizer": "absent.json"}, "as --tokenizer"),
        ({"text": "input", "tokenizer": "rows.jsonl"}, "no tokenizer"),
        ({"tokenizer": "tokenizer.json"}, "4 is no token of the tokenizer, whose ids end at 3"),
        ({"text": "blank", "tokens": "none", "tokenizer": "tokenizer.json"}, "makes no tokens"),
        ({"text": "nothing", "tokens": "none", "tokenizer": "tokenizer.json"}, "looked in 'none' and 'nothing'"),
    ],
)
def test_what_a_tokenizer_refuses(tmp_path, options, words):
    tokenizer(tmp_path)
    if "tokenizer" in options:
        options = {**options, "tokenizer": tmp_path / options["tokenizer"]}
    with pytest.raises(BadDataset, match=words):
        converted(tmp_path, [{"tokens": [4], "input": "tell", "blank": " "}], **options)


def test_every_kind_of_bad_row_at_its_line_blank_lines_counted(tmp_path):
    source = tmp_path / "a.jsonl"
    source.write_text('\n\n{"tokens": [1]}\n{"tokens"\n\n{"tokens": []}\n[1]\n{"tokens": [-1]}\n')
    with pytest.raises(BadDataset) as raised:
        convert(Conversion(source, tmp_path / "out"))
    lines = str(raised.value).splitlines()
    assert [line.split(": ")[1] for line in lines[:-1]] == ["line 4", "line 6", "line 7", "line 8"]
    assert "not JSON" in lines[0]


def test_bad_rows_of_a_list_are_counted_as_rows(tmp_path):
    source = tmp_path / "a.json"
    source.write_text('[\n{"tokens": [1]},\n7,\n{"tokens": []}]')
    with pytest.raises(BadDataset, match=r"(?s)row 2: is of type int.*row 3: tokens: the prompt is empty"):
        convert(Conversion(source, tmp_path / "out"))


def test_a_missing_source(tmp_path):
    with pytest.raises(BadDataset, match="cannot be read"):
        convert(Conversion(tmp_path / "absent.json", tmp_path / "out"))


def test_an_earlier_dataset_is_replaced_on_request_only(tmp_path):
    converted(tmp_path, [{"tokens": [1], "output": "x"}])
    with pytest.raises(BadDataset, match="--replace"):
        converted(tmp_path, [{"tokens": [2]}])
    with pytest.raises(BadDataset, match="line 1"):
        converted(tmp_path, [{"tokens": []}], replace=True)
    assert TokenDataset.open(tmp_path / "out").tokens(0).tolist() == [1]
    _, prompts, out = converted(tmp_path, [{"tokens": [2]}], replace=True)
    assert prompts == [[2]]
    assert not (out / "references.jsonl").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "rows.jsonl"]


def test_nothing_else_is_replaced(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").touch()
    with pytest.raises(BadDataset, match=r"thesis\.txt"):
        converted(tmp_path, [{"tokens": [1]}], replace=True)
    with pytest.raises(BadDataset, match="is no folder"):
        convert(Conversion(tmp_path / "rows.jsonl", tmp_path / "rows.jsonl", replace=True))


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "out").mkdir()
    _, prompts, _ = converted(tmp_path, [{"tokens": [1]}])
    assert prompts == [[1]]


def test_a_place_that_cannot_be_written(tmp_path):
    path = source(tmp_path, [{"tokens": [1]}])
    with pytest.raises(StorageError, match="choose another folder"):
        convert(Conversion(path, path / "out"))


def test_show(tmp_path):
    rows = [{"tokens": [1] * length, "output": "x" if length > 1 else ""} for length in range(1, 101)]
    _, _, out = converted(tmp_path, rows)
    text = describe_dataset(out)
    assert "min 1, p50 50, p90 90, p99 99, max 100, 5050 in all" in text
    assert TokenDataset.open(out).sha256 in text
    assert "99 of 100 samples with a text\n" in text
    lines = (out / "references.jsonl").read_text().splitlines()
    (out / "references.jsonl").write_text("\n".join(lines[:40]))
    assert "40 rows for 100 samples: convert again" in describe_dataset(out)
    (out / "references.jsonl").unlink()
    assert "accuracy cannot be scored" in describe_dataset(out)


def test_the_commands(tmp_path, capsys):
    rows = [{"tokens": [1], "answer": "A", "choices": ["A"], "output": "x"}]
    path, out = str(source(tmp_path, rows)), str(tmp_path / "out")
    assert main(["dataset", "convert", path, out, "--name", "mine", "--licence", "MIT", "--source", "here"]) == 0
    assert main(["dataset", "show", out]) == 0
    said = capsys.readouterr().out
    assert "1 samples; token ids from tokens; references from output" in said
    assert "1 with an answer and choices" in said
    assert "mine" in said
    assert main(["dataset", "convert", path, out]) == 2
    assert main(["dataset", "show", str(tmp_path)]) == 2
    assert "error: " in capsys.readouterr().err
