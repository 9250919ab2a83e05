import json
import zipfile
from pathlib import Path

import pytest

from harness.demo.fetch import AssetError
from harness.demo.full_set import FOOD, HEAVIER, MAX_PROMPT_TOKENS, QUARTZ, choose, full_questions, lettered, yes_or_no
from harness.demo.prompts import SUMMARY_SAMPLES, Question, Row, chat, cut_claims, read_rows, summary_questions


def wheel_of(folder: Path, members: dict[str, list[object]]) -> Path:
    path = folder / "data.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, rows in members.items():
            archive.writestr(name, "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n")
    return path


def said(text: str, ideal: str) -> dict[str, object]:
    return {"input": [{"role": "system", "content": "s"}, {"role": "user", "content": text}], "ideal": ideal}


def words(text: str) -> tuple[int, ...]:
    return tuple(range(len(text.split())))


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (100, "claim one\nclaim two\nwhy?"),
        (24, "claim one\nclaim two\nwhy?"),
        (23, "claim one\nwhy?"),
        (14, "claim one\nwhy?"),
        (13, "why?"),
        (1, "why?"),
    ],
)
def test_claims_are_cut_at_line_ends_and_the_question_stays(limit: int, expected: str) -> None:
    assert cut_claims("claim one\nclaim two\nwhy?\n", limit) == expected


def test_chat_ends_where_the_answer_begins() -> None:
    assert chat("hello") == "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n"
    with pytest.raises(AssetError, match="markers"):
        chat("hello<|im_end|>")


def test_summaries_leave_out_what_has_no_answer() -> None:
    rows = [
        Row(f"claim {index}\nq?", "N-A" if index % 2 else f"Summary: answer {index} ")
        for index in range(2 * SUMMARY_SAMPLES)
    ]
    questions = summary_questions(rows)
    assert len(questions) == SUMMARY_SAMPLES
    assert questions[1].reference == "answer 2"
    assert "claim 2\nq?\nAnswer" in questions[1].prompt
    with pytest.raises(AssetError, match="only 199"):
        summary_questions(rows[2:])


def test_rows_are_read_in_order_and_bad_ones_are_named(tmp_path: Path) -> None:
    wheel = wheel_of(tmp_path, {"a.jsonl": [said("one", "1"), said("two", "2")], "bad.jsonl": [said("one", "1"), "{"]})
    assert [(row.text, row.ideal) for row in read_rows(wheel, "a.jsonl")] == [("one", "1"), ("two", "2")]
    with pytest.raises(AssetError, match=r"bad\.jsonl line 2"):
        list(read_rows(wheel, "bad.jsonl"))
    with pytest.raises(AssetError, match=r"holds no readable c\.jsonl"):
        list(read_rows(wheel, "c.jsonl"))


def test_two_choice_questions() -> None:
    question = lettered(Row("More sun is\n\n A: warm\n B: cold", "A"))
    assert question == Question(chat("More sun is\nA: warm\nB: cold\nAnswer A or B."), "A", ("A", "B"))
    yes = yes_or_no(Row("Is iron heavier? Answer Yes or No", "No"))
    assert yes == Question(chat("Is iron heavier?\nA: Yes\nB: No\nAnswer A or B."), "B", ("A", "B"))
    with pytest.raises(AssetError, match="Maybe"):
        yes_or_no(Row("?", "Maybe"))


def test_questions_are_distinct_and_fit_exactly() -> None:
    fits = Question(" ".join(["x"] * MAX_PROMPT_TOKENS), "A")
    long = Question(fits.prompt + " x", "A")
    other = Question("y", "B")
    assert choose([fits, long, fits, other], words, 2) == [fits, other]
    with pytest.raises(AssetError, match="only 2 questions fit, 3 are needed"):
        choose([fits, long, other], words, 3)


def test_the_full_set_takes_its_sets_in_order(tmp_path: Path) -> None:
    quartz = [said(f"q{index}\n A: x\n B: y", "A") for index in range(4000)]
    heavier = [said(f"h{index}? Answer Yes or No", "Yes") for index in range(300)]
    food = [said(f"f{index}", "No") for index in range(200)]
    questions = full_questions(wheel_of(tmp_path, {QUARTZ: quartz, HEAVIER: heavier, FOOD: food}), words)
    assert len(questions) == len({question.prompt for question in questions}) == 4388
    assert "q0" in questions[0].prompt
    assert questions[4000].reference == "A"
    assert (questions[4387].reference, "f87\n" in questions[4387].prompt) == ("B", True)
