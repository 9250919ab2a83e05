"""Trees whose names and values try to break what prints them."""

from tests.support.tree_files import Record
from tests.support.trees import DETAIL, SYSTEM, Tree, clean_tree

HOSTILE = "n\n8\x1b[31m\u202e|`x`<&>\"'@you ##[x](y) 100% \ud83d\U000e0041"
"""A line break, a terminal escape, a turn of direction, marks of XML, Markdown, CSV and URIs, half a character."""
NAME = HOSTILE.replace("\ud83d", "é:")
"""The same as a name in UTF-8."""


def hostile_tree() -> Tree:
    """A tree whose system, values, log and files are hostile, with errors in Server."""
    made = clean_tree().performance("Server", effective_min_duration_ms=1, result_validity=HOSTILE)
    log = made.logs[made.path("Server", f"performance/run_1/{DETAIL}")]
    log.append(Record("error_runtime", HOSTILE, is_error=True))
    folder = f"{made.submitter}/results"
    description = made.documents.pop(made.system_path)
    made.documents[f"{made.submitter}/systems/{NAME}.json"] = {
        **description,
        "system_name": HOSTILE,
        "framework": HOSTILE,
        HOSTILE: HOSTILE,
        "notes_url": "https://www.example.org/",
    }
    made.copy(f"{folder}/{SYSTEM}", f"{folder}/{NAME}").remove(f"{folder}/{SYSTEM}")
    made.texts[f"{made.submitter}/src/{NAME} x"] = "x\n"
    made.texts[f"{folder}/{NAME}/{made.benchmark}/Server/{'y' * 200}"] = "x\n"
    return made
